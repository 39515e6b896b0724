//! Where a symbolic address may point.
//!
//! Most symbolic addresses are an object's address plus an offset. Then that object is meant. Whatever lies outside of it is
//! an error, even where the sum happens to land in some other object: C says so, and a test that relies on the distance
//! between two objects would show nothing natively. Only where no object can be read off the term, all objects that it can
//! reach are looked for: in a table if the address was read from one, and otherwise one model at a time.
//!
//! What is read off is certain only where the sum starts from an object's very start. The constant part of an address may
//! mislead: in `buffer[n - 1]` it lies before the object that is meant, perhaps in another one, even at its start. The pointer
//! that the address was computed from tells better. But in `(table - 'A')[c]` that pointer, too, lies outside of the object.
//! Then the object that the current input reaches counts as well. And where the object read off cannot be reached at all, it
//! was not meant.

use term::{TermId, Terms, View};
use vm::{Access, Answer, Liveness, Machine, ObjectKind, Region};
use witness::{Ending, Ledger, LedgerKind};

use crate::effects::{Decider, Fate, Feasible, MAX_TARGETS, Parted};
use crate::{Leads, LineUp, Path};

/// How deep into a sum or a choice of addresses is looked.
const MAX_MEANT_DEPTH: u32 = 12;

/// What an address is built from.
struct Meant {
    bases: Vec<u64>,
    certainty: Certainty,
}

/// Where an address may point: into these objects, or nowhere.
struct Targets {
    bases: Vec<u64>,
    /// All that the address can be, where that is known.
    values: Option<Vec<u64>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Certainty {
    Sure,
    Guess,
}

/// Where the object begins in which a pointer points, or just past which it does. A pointer between two objects may belong to
/// either.
fn objects_around(path: &Path, pointer: u64) -> Vec<u64> {
    let memory = &path.state.memory;
    let base_of = |object| memory.get(object).base;
    if let Some(object) = memory.find(pointer) {
        return vec![base_of(object)];
    }
    match memory.neighbours(pointer) {
        (Some(below), _) if memory.get(below).end() == pointer => vec![base_of(below)],
        (below, above) => below.into_iter().chain(above).map(base_of).collect(),
    }
}

/// Where the live objects begin in which these addresses lie.
fn live_objects(path: &Path, addresses: &[u64]) -> Vec<u64> {
    let memory = &path.state.memory;
    let live = |at: &u64| memory.find(*at).map(|object| memory.get(object)).filter(|o| o.liveness == Liveness::Alive);
    let mut bases: Vec<u64> = addresses.iter().filter_map(live).map(|object| object.base).collect();
    bases.sort_unstable();
    bases.dedup();
    bases
}

/// The constants that a term chooses from; `None` if there is something else.
fn collect_constants(terms: &Terms, t: TermId, depth: u32, found: &mut Vec<u64>) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    match terms.view(t) {
        View::Const(value) => found.push(value as u64),
        View::Ite(_, a, b) => {
            collect_constants(terms, a, depth, found)?;
            collect_constants(terms, b, depth, found)?;
        }
        _ => return None,
    }
    Some(())
}

/// Below it lies nothing, and a pointer that leads there comes from a null pointer.
const NULL_PAGE: u64 = 4096;

/// Entries of a table of pointers that are listed.
const MAX_LISTED: usize = 1024;

/// Marks a decision that is an address, not the start of an object: no address is as large.
const ONLY_ADDRESS: u64 = 1 << 52;

impl Decider<'_> {
    pub(crate) fn address(
        &mut self,
        path: &mut Path,
        addr: TermId,
        bytes: u64,
        access: Access,
        line_up: &mut LineUp,
        ledger: &mut Ledger,
    ) -> Fate {
        let bases = match line_up.leads(path, addr, &mut self.means()) {
            Some(Leads::Into(bases)) => Some(Targets { bases, values: None }),
            Some(Leads::At(_)) | None => None,
        };
        let Some(Targets { bases, values }) = bases.or_else(|| self.targets(path, addr, bytes, access, ledger)) else {
            return Fate::Goes;
        };
        self.machine.depend_on_meant(&path.state, &bases);
        let mut insides: Vec<(u64, TermId)> = Vec::with_capacity(bases.len());
        for base in bases {
            let inside = self.inside_for(path, addr, bytes, base, access);
            insides.push((base, inside));
        }
        let outsides = match values {
            // Null among them is a fault of its own.
            Some(values) => {
                let (nulls, others): (Vec<u64>, Vec<u64>) = values.into_iter().partition(|at| *at < NULL_PAGE);
                [nulls, others].iter().map(|at| self.is_one_outside(path, addr, bytes, access, at)).collect()
            }
            None => vec![self.is_in_none(&insides)],
        };
        for outside in outsides {
            self.report_outside(path, addr, bytes, access, &insides, outside);
        }
        let mut ways = Vec::new();
        for (base, inside) in insides {
            if self.holds(path, inside) {
                ways.push((base, inside, path.input.clone()));
            } else if let Some(input) = self.feasible(path, inside) {
                ways.push((base, inside, input));
            }
        }
        let here = ways.iter().position(|(_, _, input)| input.same(&path.input)).unwrap_or(0);
        if ways.is_empty() {
            // Every input is outside: the ending already reported is this path's own.
            let reported = self.parted.iter().rposition(|parted| matches!(parted, Parted::Ended { .. }));
            return match reported.map(|at| self.parted.remove(at)) {
                Some(Parted::Ended { path: failing, ending }) => {
                    *path = *failing;
                    Fate::Ended(ending)
                }
                _ if self.parted.iter().any(|parted| matches!(parted, Parted::Doubtful(_))) => Fate::Doubtful,
                _ => Fate::Ended(Ending::Cut(witness::Budget::Interrupt)),
            };
        }
        let (base, inside, input) = ways.swap_remove(here);
        for (base, inside, input) in ways {
            let other = path.fork(&mut self.machine.terms, base, inside, Answer::Object(base), input);
            self.parted.push(Parted::Waits { path: Box::new(other), next_edge: None });
        }
        path.input = input;
        path.take(&mut self.machine.terms, base, inside, Answer::Object(base));
        Fate::Goes
    }

    /// Where an address may point; `None` if it has one value, which the path has then taken.
    fn targets(
        &mut self,
        path: &mut Path,
        addr: TermId,
        bytes: u64,
        access: Access,
        ledger: &mut Ledger,
    ) -> Option<Targets> {
        let only = self.stack.only_value(&self.machine.terms, &path.condition, addr);
        if only.is_some_and(|at| self.take_only_address(path, addr, at as u64, bytes, access)) {
            return None;
        }
        if let Some(Meant { bases, certainty }) = self.meant_objects(path, addr) {
            let bases = match certainty {
                Certainty::Sure => bases,
                Certainty::Guess => self.confirm_meant(path, addr, bases, ledger),
            };
            return Some(Targets { bases, values: None });
        }
        let here = self.eval.eval(&self.machine.terms, &path.input, addr) as u64;
        if self.is_always(path, addr, here) && self.take_only_address(path, addr, here, bytes, access) {
            return None;
        }
        let values = self.listed_values(addr).unwrap_or_default();
        let bases = live_objects(path, &values);
        Some(if (1..=MAX_TARGETS).contains(&bases.len()) {
            Targets { bases, values: Some(values) }
        } else {
            Targets { bases: self.reachable_objects(path, addr, ledger), values: None }
        })
    }

    /// Whether a pointer that was read somewhere has one value: as the next of a list, read where a write that went elsewhere
    /// might have gone. What lies behind it is then what it is, and not one of all that might lie there.
    fn is_always(&mut self, path: &Path, addr: TermId, at: u64) -> bool {
        let here = self.is_at(addr, at);
        let elsewhere = self.machine.terms.not(here);
        matches!(
            self.stack.check(&mut self.machine.terms, &path.condition, &path.input, elsewhere),
            solver::Answer::Unsat
        )
    }

    /// An address that the path leaves one value is no symbolic one any more: as where a pointer moves on by one unless the
    /// character is the last, which it is known not to be. Only accesses that are right are decided so.
    fn take_only_address(&mut self, path: &mut Path, addr: TermId, at: u64, bytes: u64, access: Access) -> bool {
        let memory = &path.state.memory;
        let object = memory.find(at).map(|object| memory.get(object)).filter(|object| object.allows(at, bytes, access));
        let Some(base) = object.map(|object| object.base) else { return false };
        self.machine.depend_on_meant(&path.state, &[base]);
        let same = self.is_at(addr, at);
        path.take_implied(ONLY_ADDRESS | at, same, Answer::At(at));
        true
    }

    /// What a decision about an address stands for: the condition, and the answer.
    pub(crate) fn follow_address(&mut self, path: &Path, addr: TermId, bytes: u64, decision: u64) -> (TermId, Answer) {
        if decision & ONLY_ADDRESS == 0 {
            return (self.inside(path, addr, bytes, decision), Answer::Object(decision));
        }
        let at = decision & !ONLY_ADDRESS;
        (self.is_at(addr, at), Answer::At(at))
    }

    fn is_at(&mut self, addr: TermId, at: u64) -> TermId {
        let width = self.machine.terms.width(addr);
        let value = self.machine.terms.constant(u128::from(at), width);
        self.machine.terms.eq(addr, value)
    }

    /// The condition that `bytes` from `addr` on lie inside the object at `base`.
    pub(crate) fn inside(&mut self, path: &Path, addr: TermId, bytes: u64, base: u64) -> TermId {
        let memory = &path.state.memory;
        let Some(object) = memory.find(base) else { return self.machine.terms.fls() };
        let found = memory.get(object);
        if found.liveness != Liveness::Alive || found.size < bytes {
            return self.machine.terms.fls();
        }
        let room = found.size - bytes;
        let width = self.machine.terms.width(addr);
        if let Some(extent) = found.extent {
            return self.inside_extent(addr, bytes, found.base, extent);
        }
        let base = self.machine.terms.constant(u128::from(found.base), width);
        let room = self.machine.terms.constant(u128::from(room), width);
        let offset = self.machine.terms.sub(addr, base);
        self.machine.terms.ule(offset, room)
    }

    /// The same for an object whose size is a term.
    fn inside_extent(&mut self, addr: TermId, bytes: u64, base: u64, extent: TermId) -> TermId {
        let terms = &mut self.machine.terms;
        let width = terms.width(addr);
        let base = terms.constant(u128::from(base), width);
        let offset = terms.sub(addr, base);
        let offset = terms.zext(offset, 64);
        let bytes = terms.constant(u128::from(bytes), 64);
        let room = terms.sub(extent, bytes);
        let has_room = terms.ule(bytes, extent);
        let fits = terms.ule(offset, room);
        terms.and(has_room, fits)
    }

    fn inside_for(&mut self, path: &Path, addr: TermId, bytes: u64, base: u64, access: Access) -> TermId {
        let memory = &path.state.memory;
        let is_constant = memory.find(base).is_some_and(|object| memory.get(object).kind == ObjectKind::Constant);
        if is_constant && access == Access::Write {
            return self.machine.terms.fls();
        }
        self.inside(path, addr, bytes, base)
    }

    /// The objects whose addresses the term is built from, where that can be read off it.
    fn meant_objects(&self, path: &Path, addr: TermId) -> Option<Meant> {
        let mut meant = Meant { bases: Vec::new(), certainty: Certainty::Sure };
        self.collect_meant(path, addr, MAX_MEANT_DEPTH, &mut meant)?;
        meant.bases.sort_unstable();
        meant.bases.dedup();
        Some(meant)
    }

    /// The objects read off an address that does not start from the start of one.
    fn confirm_meant(&mut self, path: &mut Path, addr: TermId, bases: Vec<u64>, ledger: &mut Ledger) -> Vec<u64> {
        let value = self.eval.eval(&self.machine.terms, &path.input, addr) as u64;
        let memory = &path.state.memory;
        let live = memory.find(value).filter(|object| memory.get(*object).liveness == Liveness::Alive);
        let here = live.map(|object| memory.get(object).base);
        if here.is_some() && here == bases.first().copied() && bases.len() == 1 {
            return bases;
        }
        let mut possible = Vec::new();
        for base in &bases {
            // Freed or not to be written, it is meant all the same.
            let memory = &path.state.memory;
            let size = memory.find(*base).map_or(0, |object| memory.get(object).size);
            let there = self.window(addr, *base, size, self.machine.terms.width(addr));
            // What stays open counts as possible, as it does where it is decided.
            let answer = self.stack.check(&mut self.machine.terms, &path.condition, &path.input, there);
            if !matches!(answer, solver::Answer::Unsat) {
                possible.push(*base);
            }
        }
        if possible.is_empty() {
            possible = self.reachable_objects(path, addr, ledger);
        }
        if possible.is_empty() {
            // An error in any case, and most likely one about these.
            return bases;
        }
        possible.extend(here);
        possible.sort_unstable();
        possible.dedup();
        possible
    }

    /// Whether it can be told which objects an address means, or it can only lie in one.
    pub(crate) fn is_meant_or_sure(&mut self, path: &Path, addr: TermId, bytes: u64) -> bool {
        if self.meant_objects(path, addr).is_some() {
            return true;
        }
        let value = self.eval.eval(&self.machine.terms, &path.input, addr) as u64;
        let memory = &path.state.memory;
        let Some(object) = memory.find(value) else { return false };
        let base = memory.get(object).base;
        let inside = self.inside(path, addr, bytes, base);
        let outside = self.machine.terms.not(inside);
        matches!(
            self.stack.check(&mut self.machine.terms, &path.condition, &path.input, outside),
            solver::Answer::Unsat
        )
    }

    fn collect_meant(&self, path: &Path, addr: TermId, depth: u32, meant: &mut Meant) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        let terms = &self.machine.terms;
        let constant = terms.as_const(addr);
        let start = constant.map(|constant| constant as u64).or_else(|| self.machine.starts.of(addr));
        let around = start.map_or_else(Vec::new, |start| objects_around(path, start));
        if !around.is_empty() {
            if start != around.first().copied() {
                meant.certainty = Certainty::Guess;
            }
            meant.bases.extend(around);
            return Some(());
        }
        match terms.view(addr) {
            View::Add(a, b) => {
                let (n_known, certainty) = (meant.bases.len(), meant.certainty);
                self.collect_meant(path, b, depth, meant).or_else(|| {
                    // Half of a choice whose other half leads nowhere is not meant.
                    meant.bases.truncate(n_known);
                    meant.certainty = certainty;
                    self.collect_meant(path, a, depth, meant)
                })
            }
            View::Ite(_, a, b) => {
                self.collect_meant(path, a, depth, meant)?;
                self.collect_meant(path, b, depth, meant)
            }
            _ => None,
        }
    }

    /// Bases of the live objects an address can reach, where nothing else is known about it.
    fn reachable_objects(&mut self, path: &mut Path, addr: TermId, ledger: &mut Ledger) -> Vec<u64> {
        let mut bases = Vec::new();
        let mut elsewhere = self.machine.terms.tru();
        let mut input = Some(path.input.clone());
        while let Some(found) = input {
            let value = self.eval.eval(&self.machine.terms, &found, addr) as u64;
            let memory = &path.state.memory;
            let live = memory.find(value).filter(|object| memory.get(*object).liveness == Liveness::Alive);
            let Some(object) = live else {
                // A wild address: it can be anything, so every object is asked about instead.
                self.scan_objects(path, addr, &mut bases, ledger);
                break;
            };
            let base = memory.get(object).base;
            bases.push(base);
            if bases.len() >= MAX_TARGETS {
                self.too_many(path, ledger);
                break;
            }
            let here = self.spanned(path, addr, base);
            let beyond = self.machine.terms.not(here);
            elsewhere = self.machine.terms.and(elsewhere, beyond);
            input = match self.ask(path, elsewhere) {
                Feasible::Yes(input) => Some(input),
                Feasible::No => None,
                Feasible::Doubtful => {
                    // What may be elsewhere is looked at later, so the rest must not count it as outside.
                    let found = self.machine.terms.not(elsewhere);
                    path.condition.add(&mut self.machine.terms, found);
                    None
                }
            };
        }
        bases.sort_unstable();
        bases.dedup();
        bases
    }

    fn scan_objects(&mut self, path: &Path, addr: TermId, bases: &mut Vec<u64>, ledger: &mut Ledger) {
        let memory = &path.state.memory;
        let regions = [Region::Global, Region::Heap, Region::Stack];
        let live: Vec<u64> = regions
            .iter()
            .flat_map(|region| memory.objects(*region))
            .filter(|(_, object)| object.liveness == Liveness::Alive && object.size > 0)
            .map(|(_, object)| object.base)
            .filter(|base| !bases.contains(base))
            .collect();
        if live.len() > MAX_TARGETS {
            self.too_many(path, ledger);
            return;
        }
        for base in live {
            let here = self.spanned(path, addr, base);
            // What stays open counts as possible: the question is asked again, and kept, where it is decided.
            let mut answer = || self.stack.check(&mut self.machine.terms, &path.condition, &path.input, here);
            if !matches!(answer(), solver::Answer::Unsat) {
                bases.push(base);
            }
        }
    }

    fn too_many(&self, path: &Path, ledger: &mut Ledger) {
        let (place, _) = self.machine.image.whereabouts(&path.state);
        let detail = format!("more than {MAX_TARGETS} objects are possible");
        ledger.enter(LedgerKind::ConcretisedAddress, place, detail);
    }

    /// The condition that the address lies anywhere in the object at `base`.
    fn spanned(&mut self, path: &Path, addr: TermId, base: u64) -> TermId {
        self.inside(path, addr, 1, base)
    }

    fn is_in_none(&mut self, insides: &[(u64, TermId)]) -> TermId {
        let mut outside = self.machine.terms.tru();
        for (_, inside) in insides {
            let not_inside = self.machine.terms.not(*inside);
            outside = self.machine.terms.and(outside, not_inside);
        }
        outside
    }

    /// The condition that an address which has one of these values has one with which the access is wrong.
    fn is_one_outside(&mut self, path: &Path, addr: TermId, bytes: u64, access: Access, values: &[u64]) -> TermId {
        let memory = &path.state.memory;
        let is_right = |at: u64| memory.find(at).is_some_and(|object| memory.get(object).allows(at, bytes, access));
        let mut outside = self.machine.terms.fls();
        for at in values.iter().copied().filter(|&at| !is_right(at)) {
            let here = self.is_at(addr, at);
            outside = self.machine.terms.or(outside, here);
        }
        outside
    }

    /// All values of a pointer that was read from a table, such as the heads of the lists of a hash table, a constant beside it.
    /// That the place it was read at lies inside the table is a condition of the path.
    fn listed_values(&mut self, addr: TermId) -> Option<Vec<u64>> {
        let terms = &mut self.machine.terms;
        let width = terms.width(addr);
        let (pointer, beside) = match terms.view(addr) {
            View::Add(pointer, k) if terms.is_const(k) => (pointer, terms.as_const(k)? as u64),
            _ => (addr, 0),
        };
        let n_bytes = width as usize / 8;
        let read: Vec<TermId> = (0..width / 8).map(|idx| terms.byte(pointer, idx)).collect();
        let View::Select { array, index: first } = terms.view(read[0]) else { return None };
        let View::Table(table) = terms.view(array) else { return None };
        for (byte, k) in read.iter().zip(0..) {
            let k = terms.constant(k, 64);
            let expected = terms.add(first, k);
            if !matches!(terms.view(*byte), View::Select { array: same, index } if same == array && index == expected) {
                return None;
            }
        }
        let (index, start) = match terms.view(first) {
            View::Add(index, k) if terms.is_const(k) => (index, terms.as_const(k)? as usize),
            _ => (first, 0),
        };
        let aligned = (0..=3).rev().find(|&bits| {
            let low = if bits == 0 { None } else { Some(terms.extract(index, bits - 1, 0)) };
            low.is_none_or(|low| terms.as_const(low) == Some(0))
        })?;
        let stride = 1usize << aligned;
        let elements = terms.table_elements(table).to_vec();
        let last = elements.len().checked_sub(n_bytes)?;
        if last / stride >= MAX_LISTED {
            return None;
        }
        let mut values = Vec::new();
        for at in (start % stride..=last).step_by(stride) {
            let entry = terms.concat_bytes(&elements[at..at + n_bytes]);
            collect_constants(terms, entry, MAX_MEANT_DEPTH, &mut values)?;
        }
        values.sort_unstable();
        values.dedup();
        let mask = term::fold::mask(width) as u64;
        Some(values.iter().map(|value| value.wrapping_add(beside) & mask).collect())
    }

    /// Inputs for which the access lies in none of the objects end in an error. Preferred are those just past an edge,
    /// where a native run sees the error for what it is.
    fn report_outside(
        &mut self,
        path: &Path,
        addr: TermId,
        bytes: u64,
        access: Access,
        insides: &[(u64, TermId)],
        outside: TermId,
    ) {
        let Some(anywhere) = self.feasible_from_current(path, outside) else { return };
        let input = match insides {
            [(base, _)] => self.near_edge(path, addr, bytes, *base, outside).unwrap_or(anywhere),
            _ => anywhere,
        };
        let value = self.eval.eval(&self.machine.terms, &input, addr) as u64;
        let diagnosis = match insides {
            [(base, _)] if value >= NULL_PAGE => {
                self.machine.diagnose_outside(&path.state, value, bytes, access, *base)
            }
            _ => self.machine.diagnose(&path.state, value, bytes, access),
        };
        let bug = self.machine.bug(&path.state, diagnosis.0, diagnosis.1);
        let failing = path.fork(&mut self.machine.terms, 0, outside, Answer::Proceed, input);
        self.parted.push(Parted::Ended { path: Box::new(failing), ending: Ending::Bug(bug) });
    }

    fn feasible_from_current(&mut self, path: &Path, cond: TermId) -> Option<term::Assignment> {
        if self.holds(path, cond) { Some(path.input.clone()) } else { self.feasible(path, cond) }
    }

    /// An input that misses the object by little. Not finding one says nothing, so nothing is entered in the ledger.
    fn near_edge(
        &mut self,
        path: &Path,
        addr: TermId,
        bytes: u64,
        base: u64,
        outside: TermId,
    ) -> Option<term::Assignment> {
        let memory = &path.state.memory;
        let found = memory.get(memory.find(base)?);
        if found.extent.is_some() {
            return None;
        }
        let (base, end) = (found.base, found.end());
        let width = self.machine.terms.width(addr);
        let after = self.window(addr, end.saturating_sub(bytes.saturating_sub(1)), bytes + 8, width);
        let before = self.window(addr, base - Machine::REDZONE, Machine::REDZONE, width);
        for window in [after, before] {
            let cond = self.machine.terms.and(outside, window);
            if let solver::Answer::Sat(input) =
                self.stack.check(&mut self.machine.terms, &path.condition, &path.input, cond)
            {
                return Some(input);
            }
        }
        None
    }

    fn window(&mut self, addr: TermId, from: u64, size: u64, width: u32) -> TermId {
        let from = self.machine.terms.constant(u128::from(from), width);
        let size = self.machine.terms.constant(u128::from(size), width);
        let offset = self.machine.terms.sub(addr, from);
        self.machine.terms.ult(offset, size)
    }
}

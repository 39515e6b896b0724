//! Guesses: the unit run on with calls left out, which shows the paths it may have.

use explore::{Explorer, Fork, Path, Stop, Trust};
use ir::{FuncId, Inst};
use term::TermId;
use vm::{Liveness, ObjectKind, scalars};
use witness::Ending;

use super::expand::tag;
use super::hunt::{FUEL, Hunt};
use super::tree::{Fresh, Guess, Kind, VertexId, Where};
use super::{call_number, leave_out_call, mark, trace};

/// Guesses run before the program gets its turn.
const GUESSES_AT_ONCE: usize = 256;
/// Forks of one guess between two calls.
const MAX_GUESS_FORKS: u64 = 2_000;
/// Bytes a skipped call may leave unknown.
const MAX_MADE_UP: u64 = 4096;
/// Faults avoided by one guess that are told apart.
const MAX_AVOIDED: usize = 256;

impl Hunt<'_, '_, '_, '_> {
    /// Runs guesses from this call on, a number at a time.
    pub fn run_guesses(&mut self, vertex: VertexId) {
        let standing = std::mem::take(&mut self.tree[vertex].call.guesses);
        for mut path in standing {
            let from = path.condition.len();
            match self.make_up(vertex, &mut path) {
                true => self.tree[vertex].call.running_guesses.push(Guess { path, from, avoided: Vec::new() }),
                false => self.exhaust(vertex),
            }
        }
        for _ in 0..GUESSES_AT_ONCE {
            let Some(guess) = self.tree[vertex].call.running_guesses.pop() else { break };
            self.run_guess(vertex, guess);
            if self.explorer.is_over() {
                return;
            }
        }
    }

    fn run_guess(&mut self, vertex: VertexId, mut guess: Guess) {
        let mut n_forks = 0;
        loop {
            let stop = self.explorer.advance(&mut guess.path, Trust::Guess, FUEL);
            if self.explorer.take_doubt() {
                self.exhaust(vertex);
            }
            match stop {
                Stop::Call(func) if !self.plan.is_skipped(func) => self.stray_input(&mut guess.path, func),
                Stop::Call(func) => {
                    mark(&mut guess.path, func);
                    match self.straight(&guess.path, Trust::Guess) {
                        Some(path) => guess.path = path,
                        None => return self.guess_arrives(vertex, func, guess),
                    }
                    if self.explorer.take_doubt() {
                        self.exhaust(vertex);
                    }
                }
                Stop::Forked(forks) => {
                    n_forks += 1;
                    self.part_guess(vertex, &mut guess, None, forks);
                    if n_forks > MAX_GUESS_FORKS {
                        self.exhaust(vertex);
                        return;
                    }
                }
                Stop::Ended(ending, forks) => return self.part_guess(vertex, &mut guess, Some(ending), forks),
                Stop::Tired | Stop::Lost => {
                    self.campaign.figures.borrow_mut().iterations += 1;
                    self.exhaust(vertex);
                    return;
                }
                Stop::Paused => unreachable!("the unit does not pause"),
            }
        }
    }

    /// Others parted from a guess, or it ended, or both. All of them came the same way so far: those that go on show that
    /// it can be taken without the faults of the others.
    fn part_guess(&mut self, vertex: VertexId, guess: &mut Guess, ending: Option<Ending>, forks: Vec<Fork>) {
        let (mut waiting, mut faults) = (Vec::new(), Vec::new());
        for fork in forks {
            match fork {
                Fork::Waits(path) => waiting.push(*path),
                Fork::Ended(path, ending) => faults.extend(self.guess_ends(vertex, guess, &path, &ending)),
            }
        }
        let goes_on = ending.is_none() || !waiting.is_empty();
        if let Some(ending) = ending {
            faults.extend(self.guess_ends(vertex, guess, &guess.path, &ending));
        }
        if !goes_on {
            faults.into_iter().for_each(|fault| self.tree.promote(fault));
            return;
        }
        guess.avoided.extend(faults);
        guess.avoided.truncate(MAX_AVOIDED);
        for path in waiting {
            let parted = Guess { path, from: guess.from, avoided: guess.avoided.clone() };
            self.tree[vertex].call.running_guesses.push(parted);
        }
    }

    /// A guess reads standard input: how much a skipped call has read of it is not known.
    fn stray_input(&mut self, guess: &mut Path, func: FuncId) {
        if guess.state.n_inputs_unseen == 0 {
            return self.explorer.enter(guess);
        }
        let n_steps = guess.state.steps;
        let name = format!("lazy stdin {} {n_steps}", self.campaign.next_name());
        let results: Vec<TermId> = self
            .explorer
            .image()
            .module
            .function(func)
            .results
            .iter()
            .map(|slot| u32::from(slot.bits))
            .collect::<Vec<_>>()
            .into_iter()
            .map(|bits| self.explorer.terms().symbol(&name, bits))
            .collect();
        self.explorer.skip(guess, results);
    }

    fn cond_since(&mut self, guess: &Path, from: usize) -> TermId {
        let since: Vec<TermId> = guess.condition.iter().skip(from).collect();
        let terms = self.explorer.terms();
        since.into_iter().fold(terms.tru(), |all, cond| terms.and(all, cond))
    }

    fn guess_arrives(&mut self, from_vertex: VertexId, func: FuncId, guess: Guess) {
        let trace = trace(&guess.path);
        let cond = self.cond_since(&guess.path, guess.from);
        let vertex = match self.tree.find(trace) {
            Some(vertex) => vertex,
            None => self.tree.insert(trace, Kind::Call(func), from_vertex),
        };
        self.tree.add_cond(vertex, cond);
        self.tree.vouch(vertex, &guess.avoided);
        self.tree[vertex].call.guesses.push(guess.path);
        if self.tree[vertex].realised {
            self.tree[from_vertex].call.todo.push(vertex);
        }
    }

    /// A guess, or what parted from it, comes to an end. The fault, if it is one.
    fn guess_ends(&mut self, from_vertex: VertexId, guess: &Guess, path: &Path, ending: &Ending) -> Option<VertexId> {
        self.campaign.figures.borrow_mut().iterations += 1;
        let kind = match ending {
            Ending::Returned { .. } | Ending::Exited { .. } => Kind::End,
            Ending::Bug(_) => Kind::Fault,
            Ending::Assumed => return None,
            Ending::Pruned { .. } | Ending::Cut(_) | Ending::Unsupported(_) => {
                self.exhaust(from_vertex);
                return None;
            }
        };
        let trace = super::mixed(trace(path), 4, tag(ending));
        let cond = self.cond_since(path, guess.from);
        let vertex = match self.tree.find(trace) {
            Some(vertex) => vertex,
            None => {
                let vertex = self.tree.insert(trace, kind, from_vertex);
                if let Ending::Bug(bug) = ending {
                    let keeps = self.campaign.suspects.add(vertex, bug);
                    self.tree.suspect(vertex, keeps);
                }
                vertex
            }
        };
        self.tree.add_cond(vertex, cond);
        self.tree.vouch(vertex, &guess.avoided);
        (kind == Kind::Fault).then_some(vertex)
    }

    /// Leaves the call out: its results and whatever it may have written are made up. `false` where that has no bounds.
    fn make_up(&mut self, vertex: VertexId, guess: &mut Path) -> bool {
        let Kind::Call(func) = self.tree[vertex].kind else { return false };
        let plan = self.plan.clone();
        let effects = &plan.effects[func.idx()];
        if effects.obstacle().is_some() {
            return false;
        }
        let module = self.explorer.image().module.clone();
        let frame = &guess.state.top;
        let function = module.function(frame.func);
        let Some(Inst::Call { call }) = function.block(frame.block).insts.get(frame.inst_idx as usize) else {
            return false;
        };
        let call = &function.calls[call.idx()];
        let mut written = Vec::new();
        for global in &effects.writes.globals {
            written.push(self.explorer.image().global_addr(*global));
        }
        for (idx, arg) in
            call.args.iter().enumerate().filter(|(idx, arg)| effects.writes.has_param(*idx) && arg.byval.is_none())
        {
            debug_assert!(idx < 64);
            let value = guess.state.top.value(arg.reg, arg.bits);
            if value.term().is_some() {
                return false;
            }
            written.push(value.bits as u64);
        }
        // A pointer just outside an object is one that is moved into it before it is used.
        let memory = &guess.state.memory;
        let mut objects: Vec<_> =
            written.iter().filter_map(|addr| memory.find(*addr).or_else(|| memory.near(*addr))).collect();
        objects.sort_unstable();
        objects.dedup();
        objects.retain(|object| {
            let found = guess.state.memory.get(*object);
            found.liveness == Liveness::Alive && found.kind != ObjectKind::Constant
        });
        if objects.iter().map(|object| guess.state.memory.get(*object).size).sum::<u64>() > MAX_MADE_UP {
            return false;
        }
        // Values made up for calls of the same number share symbols, so that questions recur: no path has two such calls.
        let number = call_number(guess);
        let mut fresh = Vec::new();
        for object in objects {
            let found = guess.state.memory.get(object);
            let base = found.base;
            for (offset, n_bytes) in scalars(&module, found.ty, found.size) {
                let at = Where::Memory { object, base, offset, n_bytes };
                let name = format!("lazy {number} {:?} {} {base:x} {offset} {n_bytes}", object.region, object.idx);
                let term = self.explorer.terms().symbol(&name, u32::from(n_bytes) * 8);
                write_term(self.explorer, guess, object, offset, n_bytes, term);
                fresh.push(Fresh { at, term });
            }
        }
        let mut results = Vec::new();
        for (idx, (_, bits)) in call.results.iter().enumerate() {
            let term = self.result_symbol(number, idx, u32::from(*bits));
            results.push(term);
            fresh.push(Fresh { at: Where::Result(idx), term });
        }
        self.explorer.skip(guess, results);
        leave_out_call(guess);
        if effects.asks_inputs || effects.reads_stdin {
            guess.state.n_inputs_unseen += 1 << 16;
        }
        let known = &mut self.tree[vertex].call.fresh;
        for made_up in fresh {
            if !known.iter().any(|other| other.at == made_up.at) {
                known.push(made_up);
            }
        }
        true
    }

    fn result_symbol(&mut self, number: u32, idx: usize, bits: u32) -> TermId {
        let terms = self.explorer.terms();
        let name = format!("lazy {number} result {idx} {bits}");
        let low = terms.symbol(&name, bits.min(64));
        if bits <= 64 {
            return low;
        }
        let high = terms.symbol(&format!("{name} high"), bits - 64);
        terms.concat(high, low)
    }
}

/// Puts a made-up value into memory.
fn write_term(explorer: &mut Explorer, path: &mut Path, object: vm::ObjectId, offset: u64, n_bytes: u8, term: TermId) {
    let terms = explorer.terms();
    for idx in 0..u64::from(n_bytes) {
        let byte = terms.byte(term, idx as u32);
        path.state.memory.get_mut(object).set_term(terms, offset + idx, byte, vm::Label::EMPTY);
    }
}

//! Reading memory that nobody wrote: what the bytes are, and what may not depend on them.
//!
//! A byte nobody wrote may hold anything, so reading it makes it an input of its own, named after the variable or the
//! allocation: it has a symbol from then on, the same at every read, and the test of the path has its value. Copying leaves
//! it what it is. What counts is its use: when a decision, an address, a size or an output depends on such a symbol, the machine
//! asks with [`Effect::Unwritten`]. Whoever is asked tells whether it really does, and the path goes on with any value.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use term::TermId;
use witness::{BugKind, LedgerKind};

use crate::access::{Byte, Offset};
use crate::inputs;
use crate::run::{Machine, Step};
use crate::{
    Answer, Effect, InputKind, InputRecord, InputRequest, Label, Liveness, Object, ObjectId, ObjectKind, Region,
    ScalarShape, Shadow, Sizes, State, Value,
};

/// Larger objects do not get a symbol for each of their bytes.
const MAX_SYMBOLS: u64 = 1 << 16;

/// How unwritten memory is treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Uninit {
    /// It may hold anything.
    #[default]
    Unknown,
    /// It is zero, and the ledger says where something depends on that.
    Zero,
}

/// What a value that depends on unwritten memory is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    Decision,
    /// An address that is not computed from any known pointer, or a function.
    WildAddress,
    Address,
    Size,
    Divisor,
    Argument,
    Output,
}

impl Use {
    fn describe(self) -> &'static str {
        match self {
            Use::Decision => "what happens here depends on memory that was never written",
            Use::WildAddress | Use::Address => "the address used here depends on memory that was never written",
            Use::Size => "the size used here depends on memory that was never written",
            Use::Divisor => "the divisor depends on memory that was never written",
            Use::Argument => "the argument of a library function depends on memory that was never written",
            Use::Output => "the output depends on memory that was never written",
        }
    }
}

/// What is asked about a value that mentions unwritten memory.
#[derive(Clone, Debug)]
pub enum Judgement {
    /// Whether it really depends on it; if it does, that is this fault, and the path goes on.
    Tell(Box<witness::Bug>),
    /// The same, and the path ends there: nothing can be said about what follows.
    TellAndEnd(Box<witness::Bug>),
    /// If it does, that memory is zero from here on, and the ledger says so.
    TakeForZero,
}

impl Machine<'_> {
    /// Gives bytes that are about to be read and that nobody wrote a symbol of their own. At a symbolic offset that is
    /// every byte of the object.
    pub(crate) fn settle_unwritten(
        &mut self,
        state: &mut State,
        object: ObjectId,
        offset: Offset,
        n_bytes: u64,
    ) -> Step<()> {
        let found = state.memory.get(object);
        let range = match offset {
            Offset::At(offset) => offset..offset + n_bytes,
            Offset::Symbolic(_) => 0..found.size,
        };
        // In a pile of layers, bytes that nobody wrote are symbols from the beginning.
        let is_layered = matches!(offset, Offset::Symbolic(_)) && self.spans.sizes == Sizes::Terms;
        if found.is_written(range.clone()) || is_layered {
            return Ok(());
        }
        let runs = found.unwritten_in(range.clone());
        let n_unwritten: u64 = runs.iter().map(|run| run.end - run.start).sum();
        if n_unwritten > MAX_SYMBOLS {
            let detail = format!(
                "{n_unwritten} bytes that nobody wrote are taken for zero: one of them is meant, and which depends on inputs"
            );
            self.note(state, LedgerKind::UnmodelledBehaviour, detail);
            runs.into_iter().for_each(|run| state.memory.get_mut(object).mark_written(run));
            self.tlb.flush();
            return Ok(());
        }
        // All is asked before anything is changed.
        let n_answered = self.running.n_answered;
        let mut records: Vec<(Range<u64>, Arc<InputRecord>)> = Vec::with_capacity(runs.len());
        for run in runs {
            let is_whole = run == range && matches!(run.end - run.start, 1 | 2 | 4 | 8);
            let request = self.unwritten_request(state, object, run.clone(), is_whole);
            let record = self.plan_input(state, &request)?;
            records.push((run, record));
        }
        for (run, record) in records {
            self.enter_symbols(&record);
            let bytes = self.record_bytes(&record);
            for (byte, at) in bytes.iter().zip(run) {
                // Whether it was written may depend on inputs.
                let label = state.memory.get(object).byte(at).1.label();
                let label = self.labels.union(label, byte.shadow.label());
                let shadow = Shadow::new(byte.shadow.term(), label);
                self.writable(state, object, at, 1).set_byte(at, byte.bits, shadow);
            }
            state.inputs.push_back(record);
        }
        // Run again for another answer, the instruction finds these bytes written and does not ask about them.
        state.answers.drain(n_answered..self.running.n_answered);
        self.running.n_answered = n_answered;
        self.tlb.flush();
        Ok(())
    }

    /// The symbols of a record are those of unwritten memory.
    fn enter_symbols(&mut self, record: &InputRecord) {
        for term in record.scalars.iter().filter_map(|scalar| scalar.term) {
            self.unwritten.extend(self.terms.symbols(term).iter().copied());
        }
    }

    fn unwritten_request(&self, state: &State, object: ObjectId, run: Range<u64>, is_whole: bool) -> InputRequest {
        let n_bytes = run.end - run.start;
        let name: Arc<str> = self.unwritten_name(state.memory.get(object), run.start).into();
        let scalars: Rc<[ScalarShape]> = match is_whole {
            true => [ScalarShape { offset: 0, n_bytes: n_bytes as u8, is_bool: false }].into(),
            false => (0..n_bytes).map(|offset| ScalarShape { offset, n_bytes: 1, is_bool: false }).collect(),
        };
        let (type_name, origin) = (Arc::from("unwritten"), self.index_here(state) ^ run.start);
        let kind = InputKind::Unwritten;
        InputRequest { name, type_name, ty: None, bytes: n_bytes, scalars, origin, range: None, kind, string: None }
    }

    /// `unwritten:buf@parse+4` for a variable, `unwritten:buf@parse#2+4` for its second life in a loop, `unwritten:malloc#3@parse:12+4` for the third allocation.
    fn unwritten_name(&self, object: &Object, offset: u64) -> String {
        let function = self.image.module.function(object.site.func);
        if object.kind == ObjectKind::Heap {
            let line = self.image.module.span(object.site.span).line;
            return format!("{}malloc#{}@{}:{line}+{offset}", inputs::UNWRITTEN, object.number, function.name);
        }
        let variable = object.variable.and_then(|variable| function.variables.get(variable as usize));
        let name = variable.map_or("?", |variable| variable.name.as_str());
        let life = if object.number > 0 { format!("#{}", object.number) } else { String::new() };
        format!("{}{name}@{}{life}+{offset}", inputs::UNWRITTEN, function.name)
    }

    #[inline]
    pub(crate) fn mentions_unwritten(&self, term: TermId) -> bool {
        !self.unwritten.is_empty() && self.terms.symbols(term).iter().any(|symbol| self.unwritten.contains(symbol))
    }

    /// Something that matters depends on a term. Where that mentions unwritten memory, somebody has to judge.
    #[inline]
    pub(crate) fn uses(&mut self, state: &State, term: TermId, what: Use) -> Step<()> {
        if self.mentions_unwritten(term) { self.judge(state, term, what) } else { Ok(()) }
    }

    #[cold]
    fn judge(&mut self, state: &State, term: TermId, what: Use) -> Step<()> {
        if self.is_judged(state) {
            return Ok(());
        }
        let is_zero = self.image.world.uninit == Uninit::Zero;
        let is_told = what != Use::WildAddress && state.is_told(self.image.user_site(state));
        if !is_zero && (is_told || !self.image.checks.uninit) {
            return Ok(());
        }
        let judgement = if is_zero {
            Judgement::TakeForZero
        } else {
            let bug = Box::new(self.bug(state, BugKind::UninitialisedRead, what.describe().to_string()));
            match what {
                Use::WildAddress => Judgement::TellAndEnd(bug),
                _ => Judgement::Tell(bug),
            }
        };
        match self.ask(state, || Effect::Unwritten { value: term, judgement })? {
            Answer::Judged => Ok(()),
            other => unreachable!("a judgement was asked for, not {other:?}"),
        }
    }

    /// An address is used. One computed from a known pointer can still be said something about.
    pub(crate) fn uses_address(&mut self, state: &State, term: TermId) -> Step<()> {
        let what = if self.starts.of(term).is_some() { Use::Address } else { Use::WildAddress };
        self.uses(state, term, what)
    }

    /// Bytes leave the program.
    pub(crate) fn puts_out(&mut self, state: &mut State, object: ObjectId, offset: Offset, n_bytes: u64) -> Step<()> {
        self.settle_unwritten(state, object, offset, n_bytes)?;
        let found = state.memory.get(object).clone();
        match (offset, found.is_array()) {
            (Offset::At(at), false) => {
                for at in at..at + n_bytes {
                    if let Some(term) = found.byte(at).1.term() {
                        self.uses(state, term, Use::Output)?;
                    }
                }
                Ok(())
            }
            _ if self.unwritten.is_empty() => Ok(()),
            (offset, _) => {
                for byte in self.read_bytes(state, object, offset, n_bytes) {
                    if let Some(term) = byte.shadow.term() {
                        self.uses(state, term, Use::Output)?;
                    }
                }
                Ok(())
            }
        }
    }

    /// A value of which nothing is known, for what cannot be computed from unwritten memory.
    pub(crate) fn unwritten_value(&mut self, state: &mut State, bits: u8, label: Label) -> Value {
        state.n_unknown += 1;
        let name = format!("{}?{}@{}", inputs::UNWRITTEN, state.n_unknown, self.function_name(state.top.func));
        let low = self.terms.symbol(&name, u32::from(bits.min(64)));
        self.unwritten.extend(self.terms.symbols(low).iter().copied());
        let term = match bits {
            0..=64 => low,
            _ => {
                let high = self.terms.symbol(&format!("{name}.high"), u32::from(bits - 64));
                self.unwritten.extend(self.terms.symbols(high).iter().copied());
                self.terms.concat(high, low)
            }
        };
        Value::of_term(&self.terms, term, label)
    }

    /// Control is at the declaration of a variable: what it held in an earlier turn is gone.
    pub(crate) fn begin_variable(&mut self, state: &mut State, addr: u64, n_bytes: u64) {
        let Some(object) = state.memory.find(addr) else { return };
        let found = state.memory.get_mut(object);
        if found.base != addr || found.size != n_bytes {
            return;
        }
        found.number += 1;
        found.liveness = Liveness::Alive;
        if found.is_untouched() {
            return;
        }
        self.trace_write(state, object, 0, n_bytes);
        let control = self.is_tracking().then(|| self.note_written(state, object, 0, n_bytes));
        self.tlb.forget(addr..addr + n_bytes);
        let found = self.writable(state, object, 0, n_bytes);
        found.unwrite_all();
        for at in control.filter(|control| !control.is_empty()).map_or(0..0, |_| 0..n_bytes) {
            found.set_label(at, control.unwrap_or_default());
        }
    }

    /// Control is at the declaration of a variable that is set at once.
    pub(crate) fn revive_variable(&mut self, state: &mut State, addr: u64) {
        let Some(object) = state.memory.find(addr) else { return };
        if state.memory.get(object).liveness == Liveness::OutOfScope {
            state.memory.get_mut(object).liveness = Liveness::Alive;
        }
    }

    /// Control leaves the block of a variable.
    pub(crate) fn end_variable(&mut self, state: &mut State, addr: u64, n_bytes: u64) {
        let Some(object) = state.memory.find(addr) else { return };
        let found = state.memory.get(object);
        if found.base != addr || found.size != n_bytes || found.liveness != Liveness::Alive {
            return;
        }
        self.note_freed(state, object, Label::EMPTY);
        state.memory.get_mut(object).liveness = Liveness::OutOfScope;
        self.tlb.forget(addr..addr + n_bytes);
    }

    /// Nothing is known of which blocks control is in: no variable of the running functions counts as ended.
    pub(crate) fn revive_variables(&mut self, state: &mut State) {
        let is_over = |(_, object): &(ObjectId, &Rc<Object>)| object.liveness == Liveness::OutOfScope;
        let over: Vec<ObjectId> = state.memory.objects(Region::Stack).filter(is_over).map(|(id, _)| id).collect();
        for object in over {
            state.memory.get_mut(object).liveness = Liveness::Alive;
        }
    }
}

/// What a byte of an object is on its way to another.
pub(crate) fn byte_of(object: &Object, offset: u64) -> Byte {
    let (bits, shadow) = object.byte(offset);
    Byte { bits, shadow, is_written: !object.is_unwritten(offset) }
}

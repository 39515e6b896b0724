//! Whether something depends on memory that nobody wrote.
//!
//! The machine asks as soon as a value mentions such memory. It depends on it if, for one and the same input of the program,
//! two contents of that memory give two values: `x & 0` does not, and a bit-field beside one that was never set does not.
//! What was found out about that memory earlier on the path does not make it any more written, so the second content is
//! free of the path's conditions. That is how MemorySanitizer sees it as well.

use solver::Answer as Solved;
use term::{Assignment, Replacement, SymbolId, TermId};
use vm::{Answer, Judgement};
use witness::{Bug, Ending, Ledger, LedgerKind};

use crate::Path;
use crate::effects::{Decider, Fate, Parted};

/// What was decided, as it is kept with the path.
mod decision {
    pub const INDEPENDENT: u64 = 0;
    pub const ENDS: u64 = 1;
    pub const DEPENDS: u64 = 2;
}

enum Depends {
    No,
    /// Under this input.
    Yes(Assignment),
    Unknown(String),
}

impl Decider<'_> {
    pub(crate) fn unwritten(
        &mut self,
        path: &mut Path,
        value: TermId,
        judgement: Judgement,
        ledger: &mut Ledger,
    ) -> Fate {
        let input = match self.depends(path, value) {
            Depends::Yes(input) => input,
            Depends::No => {
                self.judged(path, decision::INDEPENDENT);
                return Fate::Goes;
            }
            Depends::Unknown(why) => {
                let (place, _) = self.machine.image.whereabouts(&path.state);
                ledger.enter(LedgerKind::UnknownAnswer, place, why);
                self.judged(path, decision::INDEPENDENT);
                return Fate::Goes;
            }
        };
        match judgement {
            Judgement::Tell(bug) => {
                self.tell(path, *bug, input);
                self.judged(path, decision::DEPENDS);
                Fate::Goes
            }
            Judgement::TellAndEnd(bug) => {
                path.input = input;
                self.judged(path, decision::ENDS);
                Fate::Ended(Ending::Bug(*bug))
            }
            Judgement::TakeForZero => {
                let (place, _) = self.machine.image.whereabouts(&path.state);
                ledger.enter(LedgerKind::UnwrittenMemory, place, "taken for zero");
                self.take_for_zero(path, value);
                self.judged(path, decision::DEPENDS);
                Fate::Goes
            }
        }
    }

    pub(crate) fn follow_unwritten(
        &mut self,
        path: &mut Path,
        value: TermId,
        judgement: Judgement,
        decision: u64,
    ) -> Fate {
        if matches!(judgement, Judgement::TakeForZero) && decision == decision::DEPENDS {
            self.take_for_zero(path, value);
        }
        self.judged(path, decision);
        match judgement {
            Judgement::Tell(bug) | Judgement::TellAndEnd(bug) if decision == decision::ENDS => {
                Fate::Ended(Ending::Bug(*bug))
            }
            _ => Fate::Goes,
        }
    }

    fn judged(&mut self, path: &mut Path, decision: u64) {
        if decision == decision::DEPENDS {
            let site = self.machine.image.user_site(&path.state);
            path.state.tell_unwritten(site);
        }
        let always = self.machine.terms.tru();
        path.take(&mut self.machine.terms, decision, always, Answer::Judged);
    }

    /// A path of its own ends in the fault.
    fn tell(&mut self, path: &Path, bug: Bug, input: Assignment) {
        let always = self.machine.terms.tru();
        let mut failing = path.fork(&mut self.machine.terms, decision::ENDS, always, Answer::Judged, input);
        failing.is_aside = true;
        self.parted.push(Parted::Ended { path: Box::new(failing), ending: Ending::Bug(bug) });
    }

    /// From here on that memory is zero, which it is in the current input: nothing has depended on it so far.
    fn take_for_zero(&mut self, path: &mut Path, value: TermId) {
        for symbol in self.unwritten_symbols(value) {
            let term = self.machine.terms.symbol_term(symbol);
            let zero = self.machine.terms.constant(0, self.machine.terms.symbol_width(symbol));
            let is_zero = self.machine.terms.eq(term, zero);
            path.input.set(symbol, 0);
            path.condition.add(&mut self.machine.terms, is_zero);
        }
    }

    fn unwritten_symbols(&self, value: TermId) -> Vec<SymbolId> {
        let symbols = self.machine.terms.symbols(value).iter().copied();
        symbols.filter(|symbol| self.machine.unwritten.contains(symbol)).collect()
    }

    fn depends(&mut self, path: &Path, value: TermId) -> Depends {
        let symbols = self.unwritten_symbols(value);
        if self.changes_now(path, value, &symbols) {
            return Depends::Yes(path.input.clone());
        }
        let terms = &mut self.machine.terms;
        let mut other = Replacement::default();
        for symbol in symbols {
            let name = format!("{}'", terms.symbol_name(symbol));
            let twin = terms.symbol(&name, terms.symbol_width(symbol));
            other.bind(symbol, twin);
        }
        let Some(twin) = other.apply(terms, value) else {
            // Too deep to tell; native replay has the last word.
            return Depends::Yes(path.input.clone());
        };
        let differs = terms.ne(value, twin);
        if terms.is_false(differs) {
            return Depends::No;
        }
        match self.stack.check(&mut self.machine.terms, &path.condition, &path.input, differs) {
            Solved::Sat(input) => Depends::Yes(input),
            Solved::Unsat => Depends::No,
            Solved::Unknown(why) => Depends::Unknown(why.to_string()),
        }
    }

    /// The cheap half: whether other contents change the value under the current input.
    fn changes_now(&mut self, path: &Path, value: TermId, symbols: &[SymbolId]) -> bool {
        let now = self.eval.eval(&self.machine.terms, &path.input, value);
        let mut input = path.input.clone();
        let patterns = [0u64, u64::MAX, 1, 0xaaaa_aaaa_aaaa_aaaa, 0x8080_8080_8080_8080, 0x7f7f_7f7f_7f7f_7f7f];
        patterns.into_iter().any(|pattern| {
            for symbol in symbols {
                let width = self.machine.terms.symbol_width(*symbol);
                input.set(*symbol, pattern & (u64::MAX >> (64 - width)));
            }
            self.eval.eval(&self.machine.terms, &input, value) != now
        })
    }
}

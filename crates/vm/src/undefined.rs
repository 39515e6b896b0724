//! Values of memory nobody has written, where that is checked: a symbol of their own, which no decision may depend on.

use term::TermId;
use witness::{BugKind, Ending};

use crate::run::{Machine, Step};
use crate::{Effect, State};

/// How a symbol for memory never written begins; no input can be named so.
const UNDEFINED: &str = "\u{0}undefined";

/// How many such symbols there are.
#[derive(Default)]
pub(crate) struct Undefined {
    n_symbols: u64,
}

impl Machine<'_> {
    /// A decision that depends on memory never written is a fault where that is checked.
    pub(crate) fn forbid_undefined(&mut self, state: &State, term: TermId) -> Step<()> {
        if !self.image.checks.uninit || self.undefined.n_symbols == 0 {
            return Ok(());
        }
        let symbols = self.terms.symbols(term);
        if symbols.iter().any(|symbol| self.terms.symbol_name(*symbol).starts_with(UNDEFINED)) {
            let message = "what happens here depends on memory that was never written".to_string();
            return Err(Effect::Ended(Box::new(Ending::Bug(self.bug(state, BugKind::UninitialisedRead, message)))));
        }
        Ok(())
    }

    pub(crate) fn fresh_undefined(&mut self, width: u32) -> TermId {
        self.undefined.n_symbols += 1;
        self.terms.symbol(&format!("{UNDEFINED}{}", self.undefined.n_symbols), width)
    }

    /// Of any width a register can have.
    pub(crate) fn undefined_of(&mut self, bits: u8) -> TermId {
        let low = self.fresh_undefined(u32::from(bits.min(64)));
        if bits <= 64 {
            return low;
        }
        let high = self.fresh_undefined(u32::from(bits - 64));
        self.terms.concat(high, low)
    }
}

//! What was found to be impossible, kept for those who want to know.

use term::TermId;

/// What a path condition was found to exclude.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refuted {
    Question(TermId),
    /// That the term has another value than those enumerated.
    OtherValues(TermId),
}

/// Whether what is refuted is kept for somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeping {
    On,
    Off,
}

/// Since it was last taken; nothing where nobody wants to know.
#[derive(Default)]
pub(crate) struct Refutations(Option<Vec<Refuted>>);

impl Refutations {
    pub fn keep(&mut self, keeping: Keeping) {
        match keeping {
            Keeping::On => _ = self.0.get_or_insert_default(),
            Keeping::Off => self.0 = None,
        }
    }

    pub fn take(&mut self) -> Vec<Refuted> {
        self.0.as_mut().map(std::mem::take).unwrap_or_default()
    }

    pub fn note(&mut self, refuted: Refuted) {
        if let Some(known) = &mut self.0 {
            known.push(refuted);
        }
    }
}

//! What is known while one instruction runs: how many of its questions are answered, and where its access went.
//!
//! An instruction that has to ask is run again from its beginning with one answer more, until it has them all.

use term::TermId;
use witness::{Bug, BugKind, Ending, Gap, LedgerKind};

use crate::run::{Machine, Step};
use crate::{Answer, Decides, Effect, ObjectId, PickWhy, State, Use, Value};

#[derive(Default)]
pub(crate) struct Running {
    /// How many answers it has used.
    pub(crate) n_answered: usize,
    /// Where the last access that was found right went.
    pub(crate) located: Option<ObjectId>,
}

impl Machine<'_> {
    /// The answers served their instruction. What they say is known from here on, and not before: run again with one answer more, an
    /// instruction must ask the same.
    #[inline]
    pub(crate) fn settle_answers(&mut self, state: &mut State) {
        self.running.n_answered = 0;
        state.answers.clear();
        self.spans.positions.learn(&self.terms, &mut state.facts);
    }

    /// The next answer for the running instruction, or the question.
    pub(crate) fn ask(&mut self, state: &State, question: impl FnOnce() -> Effect) -> Step<Answer> {
        match state.answers.get(self.running.n_answered) {
            Some(answer) => {
                self.running.n_answered += 1;
                Ok(answer.clone())
            }
            None => Err(question()),
        }
    }

    /// Whether the running instruction has been told about what it asks next: it was judged.
    pub(crate) fn is_judged(&mut self, state: &State) -> bool {
        let is_judged = matches!(state.answers.get(self.running.n_answered), Some(Answer::Judged));
        self.running.n_answered += usize::from(is_judged);
        is_judged
    }

    /// Stops with a bug unless `holds`; asks when that depends on inputs.
    pub(crate) fn check(&mut self, state: &State, holds: TermId, bug: impl FnOnce(&Self) -> Bug) -> Step<()> {
        match self.terms.as_const(holds) {
            Some(0) => Err(Effect::Ended(Box::new(Ending::Bug(bug(self))))),
            Some(_) => Ok(()),
            None => {
                let made = bug(self);
                self.ask(state, || Effect::Check { holds, bug: Box::new(made) }).map(|_| ())
            }
        }
    }

    /// One concrete value for a value.
    pub(crate) fn pick(&mut self, state: &State, value: Value, why: PickWhy) -> Step<u128> {
        if !value.label().is_empty() {
            self.depend(state, value.label(), Decides::Value);
        }
        let Some(term) = value.term() else { return Ok(value.bits) };
        self.uses(state, term, use_of(why))?;
        match self.ask(state, || Effect::Pick { value: term, why })? {
            Answer::Value(value) => Ok(value),
            other => unreachable!("a pick is answered with a value, not {other:?}"),
        }
    }

    pub fn bug(&self, state: &State, kind: BugKind, message: String) -> Bug {
        let (place, stack) = self.image.whereabouts(state);
        Bug { kind, message, place, stack, also: Vec::new() }
    }

    pub(crate) fn gap(&mut self, state: &State, message: String) -> Effect {
        let (place, _) = self.image.whereabouts(state);
        self.notes.push((LedgerKind::UnknownFunction, place.clone(), message.clone()));
        Effect::Ended(Box::new(Ending::Unsupported(Gap { message, place })))
    }

    pub(crate) fn note(&mut self, state: &State, kind: LedgerKind, detail: impl Into<String>) {
        let (place, _) = self.image.whereabouts(state);
        self.notes.push((kind, place, detail.into()));
    }
}

/// What a value is picked for.
fn use_of(why: PickWhy) -> Use {
    match why {
        PickWhy::Size => Use::Size,
        PickWhy::FunctionPointer | PickWhy::JumpTarget | PickWhy::Address => Use::WildAddress,
        PickWhy::Float | PickWhy::Argument | PickWhy::Choice => Use::Argument,
        PickWhy::Status => Use::Output,
    }
}

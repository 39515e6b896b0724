//! Random numbers: one fixed sequence, which the ledger says, or inputs.

use ir::Call;
use witness::LedgerKind;

use super::{Stub, done};
use crate::run::{Machine, Next, Step};
use crate::{Decides, State, Value};

/// As the native runtime calls them, one name for all.
const NAME: &str = "rand";

/// Numbers from 0 on, and those of `mrand48`, which may be negative. The bodies are Colt's own library's.
pub const STUBS: &[(&str, Stub)] = &[
    ("rand", |machine, state, call, _| machine.random(state, call, Sign::Without)),
    ("random", |machine, state, call, _| machine.random(state, call, Sign::Without)),
    ("rand_r", |machine, state, call, _| machine.random(state, call, Sign::Without)),
    ("lrand48", |machine, state, call, _| machine.random(state, call, Sign::Without)),
    ("mrand48", |machine, state, call, _| machine.random(state, call, Sign::With)),
    ("drand48", |machine, state, _, _| {
        machine.note(state, LedgerKind::UnmodelledBehaviour, "drand48: one fixed sequence of numbers");
        Ok(None)
    }),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    With,
    Without,
}

impl Machine<'_> {
    fn random(&mut self, state: &mut State, call: &Call, sign: Sign) -> Step<Option<Next>> {
        if !self.image.world.rand_input {
            let what = "random numbers: one fixed sequence; --rand-input makes each of them an input";
            self.note(state, LedgerKind::UnmodelledBehaviour, what);
            return Ok(None);
        }
        let mut request = self.input_request(state, NAME.into(), "int".into(), None, 4);
        if sign == Sign::Without {
            request.range = Some((0, 1 << 31));
        }
        let record = self.plan_scalar(state, &request)?;
        let (term, label) = self.record_term(&record);
        if sign == Sign::Without {
            let zero = self.terms.constant(0, 32);
            let holds = self.terms.sle(zero, term);
            self.depend(state, label, Decides::Assumption);
            self.constrain(state, holds)?;
        }
        let bits = call.results.first().map_or(32, |result| u32::from(result.1));
        let term = if bits > 32 { self.terms.sext(term, bits) } else { term };
        let value = Value::of_term(&self.terms, term, label);
        state.inputs.push_back(record);
        self.give(state, call, value);
        done()
    }
}

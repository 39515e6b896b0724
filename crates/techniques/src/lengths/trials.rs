//! Trying texts out: which of them overflow something, and how short they may be.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use explore::{Discovery, InputForm, InputRequest, Trial, Tried};
use vm::{Label, Scalar, StringKind};
use witness::{Bug, FindingKey, InputValue};

use super::texts::Repeated;

/// Instructions that one trial, and all of them, may take.
const FUEL: u64 = 1_000_000;
const ALL_FUEL: u64 = 40_000_000;
/// What a trial costs besides, in instructions.
const START: u64 = 20_000;
/// Different faults that are followed.
const MAX_FAULTS: usize = 6;

#[derive(Default)]
pub struct Trials {
    queue: VecDeque<Repeated>,
    current: Option<Repeated>,
    found: BTreeMap<FindingKey, Shown>,
    n_spent: u64,
}

/// A fault, the shortest text that shows it, and the longest that is known not to.
struct Shown {
    bug: Bug,
    by: Repeated,
    without: u64,
    inputs: Vec<InputValue>,
}

impl Trials {
    pub fn new(texts: &[Repeated]) -> Trials {
        Trials { queue: texts.iter().cloned().collect(), ..Trials::default() }
    }

    /// The next trial, after one that came to this.
    pub fn next(&mut self, last: Option<Tried>) -> Option<Trial> {
        if let (Some(by), Some(tried)) = (self.current.take(), last) {
            self.judge(by, tried);
        }
        let next = match self.between() {
            Some(next) => Some(next),
            None if self.found.len() < MAX_FAULTS => self.queue.pop_front(),
            None => None,
        };
        let cost = |text: &Repeated| START + text.n_bytes * 64;
        self.current = next.filter(|text| self.n_spent + cost(text) <= ALL_FUEL);
        self.n_spent += cost(self.current.as_ref()?);
        Some(Trial { fuel: FUEL })
    }

    fn judge(&mut self, by: Repeated, Tried { bug, inputs }: Tried) {
        let key = bug.as_ref().map(Bug::key);
        for (other, shown) in &mut self.found {
            if shown.by.text == by.text && Some(other) != key.as_ref() && by.n_bytes < shown.by.n_bytes {
                shown.without = shown.without.max(by.n_bytes);
            }
        }
        let (Some(key), Some(bug)) = (key, bug) else { return };
        match self.found.get_mut(&key) {
            None => _ = self.found.insert(key, Shown { bug, by, without: 0, inputs }),
            Some(shown) if shown.by.text == by.text && by.n_bytes < shown.by.n_bytes => {
                (shown.bug, shown.by, shown.inputs) = (bug, by, inputs);
            }
            Some(_) => {}
        }
    }

    /// A text between one that shows a fault and one that does not.
    fn between(&self) -> Option<Repeated> {
        let open = self.found.values().find(|shown| shown.by.n_bytes - shown.without > 1 + shown.by.n_bytes / 16)?;
        let n_bytes = (open.by.n_bytes + open.without) / 2;
        Some(Repeated { text: open.by.text.clone(), n_bytes })
    }

    /// What an input is in the current trial.
    pub fn form(&mut self, request: &InputRequest, most: u64) -> Option<InputForm> {
        let Repeated { text, n_bytes } = self.current.as_ref()?;
        let n_bytes = (*n_bytes).min(most);
        let bytes: Vec<u8> = text.iter().copied().cycle().take(n_bytes as usize).collect();
        let form = match request.string {
            Some(StringKind::Own) => {
                let scalar = |(idx, byte): (usize, &u8)| Scalar {
                    offset: idx as u64,
                    n_bytes: 1,
                    term: None,
                    value: u64::from(*byte),
                    label: Label::EMPTY,
                    number: 0,
                };
                let scalars: Vec<Scalar> = bytes.iter().enumerate().map(scalar).collect();
                InputForm::Given { scalars: Rc::from(scalars), conditions: Rc::from([]), layout: None }
            }
            _ => {
                let value = |idx: usize| Some(bytes.get(idx).copied().map_or(0, u64::from));
                InputForm::Mixed((0..request.bytes as usize).map(value).collect())
            }
        };
        Some(form)
    }

    /// What was shown.
    pub fn discoveries(&mut self) -> Vec<Discovery> {
        let found = std::mem::take(&mut self.found);
        let discovery =
            |Shown { bug, inputs, .. }: Shown| Discovery { bug, inputs, path: Vec::new(), certificate: None };
        found.into_values().map(discovery).collect()
    }
}

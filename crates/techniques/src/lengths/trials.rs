//! Trying texts out: which of them overflow something, and how short they may be.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use explore::{Discovery, InputForm, InputRequest, MoreTrials, Trial, Tried};
use vm::{Label, Pattern, Scalar, StringKind, TextForm, TextKind};
use witness::{Bug, FindingKey, InputValue};

use super::growth::Growth;
use super::texts::{Repeated, Texts, USUAL};

/// Instructions that one trial, and all of one kind, may take.
const FUEL: u64 = 1_000_000;
const ALL_FUEL: u64 = 40_000_000;
const GROWTH_FUEL: u64 = 50_000;
/// What a trial costs besides, in instructions.
const START: u64 = 20_000;
/// Different faults that are followed.
const MAX_FAULTS: usize = 6;
const ALL_GROWTH_FUEL: u64 = 60_000_000;
const ALL_LENGTHENING_FUEL: u64 = 60_000_000;
const GROWTH_START: u64 = 5_000;
/// Paths of a text that is stretched, how many may part from them, and from those of all texts.
const STRETCHED_PATHS: u32 = 24;
const STRETCHED_FORKS: usize = 1500;
const ALL_FORKS: usize = 10_000;
const STRETCHED_START: usize = 8;

/// What is tried, in this order.
enum Stage {
    Repeating(VecDeque<Repeated>),
    Growing,
    /// As `Stretching`, with lengths that are numbers. After it, growing goes on.
    Lengthening(Lengthening),
    Stretching(VecDeque<Rc<Pattern>>),
    Over,
}

/// What the inputs are in the trial that runs.
enum Current {
    Repeated(Repeated),
    Written(Vec<u8>),
    Stretched(Rc<Pattern>),
}

/// Texts that are stretched to each of some lengths.
struct Lengthening {
    patterns: VecDeque<Rc<Pattern>>,
    lengths: VecDeque<u64>,
    /// The next of the patterns.
    idx: usize,
}

impl Lengthening {
    fn next(&mut self) -> Option<Vec<u8>> {
        if self.idx == self.patterns.len() {
            self.idx = 0;
            self.lengths.pop_front();
        }
        let n_bytes = *self.lengths.front()? as usize;
        let Pattern { before, repeat, after } = &**self.patterns.get(self.idx)?;
        self.idx += 1;
        let repeated = repeat.iter().copied().cycle().take(n_bytes);
        Some(before.iter().copied().chain(repeated).chain(after.iter().copied()).collect())
    }
}

pub struct Trials {
    stage: Stage,
    growth: Growth,
    long: u64,
    lengths: Vec<u64>,
    current: Option<Current>,
    repeating: BTreeMap<FindingKey, Repeating>,
    found: BTreeMap<FindingKey, Shown>,
    n_spent: u64,
    growth_left: u64,
    lengthening_left: u64,
    forks_left: usize,
}

/// A fault, and inputs that show it.
struct Shown {
    bug: Bug,
    inputs: Vec<InputValue>,
}

/// The shortest text that shows a fault, and the longest that is known not to.
struct Repeating {
    by: Repeated,
    without: u64,
}

impl Trials {
    pub fn new(texts: &Texts) -> Trials {
        Trials {
            stage: Stage::Repeating(texts.repeated.iter().cloned().collect()),
            growth: Growth::new(texts),
            long: texts.long,
            lengths: texts.lengths.clone(),
            lengthening_left: ALL_LENGTHENING_FUEL,
            current: None,
            repeating: BTreeMap::new(),
            found: BTreeMap::new(),
            n_spent: 0,
            growth_left: ALL_GROWTH_FUEL,
            forks_left: ALL_FORKS,
        }
    }

    /// The next trial, after one that came to this.
    pub fn next(&mut self, last: Option<Tried>, more: MoreTrials) -> Option<Trial> {
        if let (Some(current), Some(tried)) = (self.current.take(), last) {
            self.judge(current, tried);
        }
        if more == MoreTrials::No {
            return None;
        }
        loop {
            let (current, trial) = match &mut self.stage {
                Stage::Repeating(_) => match self.next_repeated() {
                    Some(text) => (Current::Repeated(text), Trial { fuel: FUEL, n_paths: 1, n_forks: 0 }),
                    None => {
                        self.stage = Stage::Growing;
                        continue;
                    }
                },
                Stage::Growing => match self.growth.next().filter(|_| self.growth_left > 0) {
                    Some(text) => (Current::Written(text), Trial { fuel: GROWTH_FUEL, n_paths: 1, n_forks: 0 }),
                    None => {
                        let (patterns, lengths) = (self.growth.next_round(), self.lengths.iter().copied().collect());
                        self.stage = Stage::Lengthening(Lengthening { patterns, lengths, idx: 0 });
                        continue;
                    }
                },
                Stage::Lengthening(lengthening) => match lengthening.next().filter(|_| self.lengthening_left > 0) {
                    Some(text) => (Current::Written(text), Trial { fuel: FUEL, n_paths: 1, n_forks: 0 }),
                    None if self.growth_left == 0 || self.lengthening_left == 0 || self.growth.is_over() => {
                        self.stage = Stage::Stretching(self.growth.stretches());
                        continue;
                    }
                    None => {
                        self.stage = Stage::Growing;
                        continue;
                    }
                },
                Stage::Stretching(patterns) => match patterns.pop_front().filter(|_| self.forks_left > 0) {
                    Some(pattern) => {
                        let n_forks = self.forks_left.min(STRETCHED_FORKS);
                        (Current::Stretched(pattern), Trial { fuel: FUEL, n_paths: STRETCHED_PATHS, n_forks })
                    }
                    None => {
                        self.stage = Stage::Over;
                        continue;
                    }
                },
                Stage::Over => return None,
            };
            self.current = Some(current);
            return Some(trial);
        }
    }

    fn next_repeated(&mut self) -> Option<Repeated> {
        let next = match (self.between(), &mut self.stage) {
            (Some(next), _) => Some(next),
            (None, Stage::Repeating(queue)) if self.repeating.len() < MAX_FAULTS => queue.pop_front(),
            _ => None,
        }?;
        let cost = START + next.n_bytes * 64;
        self.n_spent += cost;
        (self.n_spent <= ALL_FUEL).then_some(next)
    }

    fn judge(&mut self, current: Current, Tried { shown, edges, n_steps, n_forks }: Tried) {
        match &mut self.stage {
            Stage::Growing => {
                self.growth.judge(&edges);
                self.growth_left = self.growth_left.saturating_sub(GROWTH_START + n_steps);
            }
            Stage::Lengthening(_) => {
                self.lengthening_left = self.lengthening_left.saturating_sub(GROWTH_START + n_steps);
            }
            // One that parts from none costs something, too.
            Stage::Stretching(_) => self.forks_left = self.forks_left.saturating_sub(n_forks + STRETCHED_START),
            Stage::Repeating(_) | Stage::Over => {}
        }
        match current {
            Current::Repeated(by) => self.judge_repeated(by, shown),
            Current::Written(_) | Current::Stretched(_) => {
                for (bug, inputs) in shown {
                    self.found.entry(bug.key()).or_insert(Shown { bug, inputs });
                }
            }
        }
    }

    fn judge_repeated(&mut self, by: Repeated, shown: Vec<(Bug, Vec<InputValue>)>) {
        let shown = shown.into_iter().next();
        let key = shown.as_ref().map(|(bug, _)| bug.key());
        for (other, known) in &mut self.repeating {
            if known.by.text == by.text && Some(other) != key.as_ref() && by.n_bytes < known.by.n_bytes {
                known.without = known.without.max(by.n_bytes);
            }
        }
        let (Some(key), Some((bug, inputs))) = (key, shown) else { return };
        match self.repeating.get_mut(&key) {
            None => _ = self.repeating.insert(key.clone(), Repeating { by, without: 0 }),
            Some(known) if known.by.text == by.text && by.n_bytes < known.by.n_bytes => known.by = by,
            Some(_) => return,
        }
        self.found.insert(key, Shown { bug, inputs });
    }

    /// A text between one that shows a fault and one that does not.
    fn between(&self) -> Option<Repeated> {
        let is_open = |known: &&Repeating| known.by.n_bytes - known.without > 1 + known.by.n_bytes / 16;
        let open = self.repeating.values().find(is_open)?;
        let n_bytes = (open.by.n_bytes + open.without) / 2;
        Some(Repeated { text: open.by.text.clone(), n_bytes })
    }

    /// What an input is in the current trial, that would be of a form otherwise.
    pub fn form(&mut self, request: &InputRequest, usual: &TextForm) -> Option<InputForm> {
        match self.current.as_ref()? {
            Current::Repeated(Repeated { text, n_bytes }) => {
                let bytes = text.iter().copied().cycle().take((*n_bytes).min(usual.most) as usize).collect();
                Some(written(request, usual, bytes))
            }
            Current::Written(text) => {
                let bytes = text.iter().copied().take(usual.most as usize).collect();
                Some(written(request, usual, bytes))
            }
            Current::Stretched(pattern) => {
                let n_fixed = (pattern.before.len() + pattern.after.len()) as u64;
                if n_fixed >= usual.most {
                    let bytes = pattern.before.iter().chain(&pattern.after).copied().take(usual.most as usize);
                    return Some(written(request, usual, bytes.collect()));
                }
                let most = usual.most.min(self.long.max(n_fixed + 1));
                let form = TextForm { prefix: 0, most, pattern: Some(Rc::clone(pattern)), ..usual.clone() };
                Some(InputForm::Text(form))
            }
        }
    }

    /// What was shown.
    pub fn discoveries(&mut self) -> Vec<Discovery> {
        let found = std::mem::take(&mut self.found);
        let discovery = |Shown { bug, inputs }: Shown| Discovery { bug, inputs, path: Vec::new(), certificate: None };
        found.into_values().map(discovery).collect()
    }
}

/// An input that is these bytes, and zeros where it has a size of its own.
fn written(request: &InputRequest, usual: &TextForm, bytes: Vec<u8>) -> InputForm {
    match request.string {
        _ if usual.kind == TextKind::Stream => {
            let most = bytes.len() as u64;
            let pattern = Pattern { before: bytes.into(), repeat: Box::new([USUAL]), after: Box::new([]) };
            InputForm::Text(TextForm { prefix: 0, most, pattern: Some(Rc::new(pattern)), ..usual.clone() })
        }
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
    }
}

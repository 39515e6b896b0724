//! The stack: each question goes down the layers until one answers.

use crate::answer::{Answer, Why};
use crate::config::{Checking, Config, Recording};
use crate::counters::Counters;
use crate::layers::{Cost, InOrder, Layer, Learnt, Said, Setup};
use crate::path::PathCondition;
use crate::patience::Patience;
use crate::query::{Query, Tools};
use crate::record::Recorder;
use crate::refuted::{Keeping, Refutations, Refuted};
use crate::smt::{Backend, Reply, backend};
use std::rc::Rc;
use std::time::{Duration, Instant};
use term::{Assignment, TermId, Terms};

/// The solver of one worker.
pub struct Stack {
    pub(crate) config: Rc<Config>,
    counters: Counters,
    layers: Vec<InOrder>,
    /// How many at the top are not worth measuring.
    n_free: usize,
    /// How many come before the last resort.
    n_before_last_resort: usize,
    pub(crate) tools: Tools,
    patience: Patience,
    bare: Option<Box<dyn Backend>>,
    recorder: Option<Recorder>,
    pub(crate) refuted: Refutations,
}

/// Which of its two chances to answer a layer has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    First,
    Late,
}

/// A question that takes longer is a slow one.
const SLOW: Duration = Duration::from_millis(10);

impl Stack {
    pub fn new(config: Config) -> Stack {
        let smt = if config.is_on(Layer::Smt) { backend(config.smt, &config.stop) } else { None };
        Stack::with_backend(config, smt)
    }

    /// A stack over a backend of the caller's own.
    pub fn with_backend(config: Config, smt: Option<Box<dyn Backend>>) -> Stack {
        let bare = match config.checking {
            Checking::On => backend(config.smt, &config.stop),
            Checking::Off => None,
        };
        let mut counters = Counters::default();
        let recorder = config.record.as_deref().and_then(|path| {
            let recorder = Recorder::create(path);
            counters.n_unrecorded += u64::from(recorder.is_err());
            recorder.ok()
        });
        let layers = Layer::line_up(Setup { config: &config, smt });
        let last_resort = layers.iter().position(|layer| layer.cost == Cost::LastResort);
        Stack {
            n_before_last_resort: last_resort.unwrap_or(layers.len()),
            n_free: layers.iter().take_while(|layer| layer.cost == Cost::Nothing).count(),
            layers,
            config: Rc::new(config),
            counters,
            tools: Tools::default(),
            patience: Patience::Usual { at_most: None },
            bare,
            recorder,
            refuted: Refutations::default(),
        }
    }

    /// Keeps what is refuted from now on, or does not.
    pub fn keep_refuted(&mut self, keeping: Keeping) {
        self.refuted.keep(keeping);
    }

    /// What was refuted since this was last called.
    pub fn take_refuted(&mut self) -> Vec<Refuted> {
        self.refuted.take()
    }

    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    /// How long questions may take from now on; returns how long they might until now.
    pub fn set_patience(&mut self, patience: Patience) -> Patience {
        std::mem::replace(&mut self.patience, patience)
    }

    /// The value of a term under an input; shares what the stack remembers about the current one.
    pub fn eval(&mut self, terms: &Terms, current: &Assignment, t: TermId) -> u128 {
        self.tools.current.eval(terms, current, t)
    }

    /// Whether the path and the question can hold together. `current` must satisfy the path.
    ///
    /// A satisfying input is `current` with other values only for symbols connected with the question.
    pub fn check(&mut self, terms: &mut Terms, path: &PathCondition, current: &Assignment, question: TermId) -> Answer {
        self.counters.n_asked += 1;
        let n_hard = self.counters.n_solver;
        let answer = self.descend(terms, path, current, question);
        if let Some(recorder) = &mut self.recorder
            && (self.config.recording == Recording::All || self.counters.n_solver > n_hard)
            && recorder.write(terms, path, current, question, &answer).is_err()
        {
            self.counters.n_unrecorded += 1;
        }
        let answer = match self.bare {
            Some(_) => self.compare(terms, path, question, answer),
            None => answer,
        };
        match answer {
            Answer::Unknown(_) => self.counters.n_unknown += 1,
            Answer::Unsat => self.refuted.note(Refuted::Question(question)),
            Answer::Sat(_) => {}
        }
        answer
    }

    /// From layer to layer. Where the first ones have no answer, one about fewer symbols is asked if there is one.
    fn descend(&mut self, terms: &mut Terms, path: &PathCondition, current: &Assignment, question: TermId) -> Answer {
        let config = Rc::clone(&self.config);
        let mut query = Query::new(terms, path, current, question, &config, self.patience);
        if let Some(answer) = self.begin(&mut query) {
            return answer;
        }
        let plainer = path.with_fixed_values(terms, question);
        let mut query = Query::new(terms, path, current, plainer, &config, self.patience);
        if plainer != question
            && let Some(answer) = self.begin(&mut query)
        {
            return answer;
        }
        self.descend_further(query)
    }

    /// The layers that are not worth measuring.
    fn begin(&mut self, query: &mut Query) -> Option<Answer> {
        for idx in 0..self.n_free {
            let InOrder { layer, answers, .. } = &mut self.layers[idx];
            match answers.answer(query, &mut self.tools) {
                None => {}
                Some(Said::Exactly(answer)) => {
                    self.counters.answered(*layer, &answer);
                    return Some(answer);
                }
                Some(said) => return Some(self.conclude(query, idx, said)),
            }
        }
        None
    }

    /// The layers that are worth measuring. What some put off comes before the last resort.
    fn descend_further(&mut self, mut query: Query) -> Answer {
        let n_before = self.n_before_last_resort;
        query.has_last_resort = n_before < self.layers.len();
        let first = (self.n_free..n_before).map(|idx| (idx, Turn::First));
        let late = (self.n_free..n_before).map(|idx| (idx, Turn::Late));
        let last = (n_before..self.layers.len()).map(|idx| (idx, Turn::First));
        let mut why = Why::Budget;
        let mut watch = Stopwatch::start(&query);
        for (idx, turn) in first.chain(late).chain(last) {
            let InOrder { layer, cost, answers } = &mut self.layers[idx];
            if !is_patient(query.patience, *cost, turn) {
                continue;
            }
            let is_search = cost.is_search();
            if is_search {
                watch.reach_search(&mut self.counters);
            }
            let said = match turn {
                Turn::First => answers.answer(&mut query, &mut self.tools),
                Turn::Late => answers.answer_late(&mut query, &mut self.tools),
            };
            watch.read(*layer, is_search, &mut self.counters);
            match said {
                None => {}
                Some(Said::Unknown(reason)) => why = reason,
                Some(said) => return self.conclude(&query, idx, said),
            }
        }
        Answer::Unknown(why)
    }

    /// Confirms a model with the evaluator, completes it and lets the layers learn from it.
    fn conclude(&mut self, query: &Query, idx: usize, said: Said) -> Answer {
        let layer = self.layers[idx].layer;
        let answer = match said {
            Said::Exactly(answer) => answer,
            Said::Unknown(why) => Answer::Unknown(why),
            Said::Unsat(core) => {
                self.learn(query, layer, &Learnt::Unsat { core: core.as_deref() });
                Answer::Unsat
            }
            Said::Sat(values) => {
                let mut input = query.current.clone();
                values.iter().for_each(|(symbol, value)| input.set(*symbol, *value));
                if query.is_satisfied(&mut self.tools.trial, &input) {
                    self.learn(query, layer, &Learnt::Sat { values: &values, input: &input });
                    Answer::Sat(input)
                } else {
                    self.counters.n_wrong_models += 1;
                    Answer::Unknown(Why::WrongModel)
                }
            }
        };
        self.counters.answered(layer, &answer);
        answer
    }

    fn learn(&mut self, query: &Query, by: Layer, learnt: &Learnt) {
        self.layers.iter_mut().for_each(|layer| layer.answers.learn(query, by, learnt));
    }

    /// Check mode: the whole path to the bare solver.
    fn compare(&mut self, terms: &Terms, path: &PathCondition, question: TermId, answer: Answer) -> Answer {
        let Some(bare) = self.bare.as_mut() else { return answer };
        let mut all: Vec<TermId> = path.iter().collect();
        all.push(question);
        let reply = bare.check(terms, &all, self.config.timeout);
        let agree = match (&answer, &reply) {
            (Answer::Sat(input), Reply::Sat(_)) => all.iter().all(|&t| self.tools.trial.holds(terms, input, t)),
            (Answer::Sat(_), Reply::Unsat) | (Answer::Unsat, Reply::Sat(_)) => false,
            _ => true,
        };
        if agree {
            return answer;
        }
        self.counters.n_disagreements += 1;
        Answer::Unknown(Why::Disagreement)
    }
}

fn is_patient(patience: Patience, cost: Cost, turn: Turn) -> bool {
    match patience {
        Patience::None => turn == Turn::First && !cost.is_search(),
        Patience::Short => turn == Turn::First && cost != Cost::LastResort,
        Patience::Usual { .. } | Patience::Long { .. } => true,
    }
}

/// Read after each layer.
struct Stopwatch {
    start: Instant,
    has_reached_search: bool,
}

impl Stopwatch {
    /// The question's own clock starts with it.
    fn start(query: &Query) -> Stopwatch {
        query.clock();
        Stopwatch { start: Instant::now(), has_reached_search: false }
    }

    fn reach_search(&mut self, counters: &mut Counters) {
        if !std::mem::replace(&mut self.has_reached_search, true) {
            counters.n_solver += 1;
        }
    }

    fn read(&mut self, layer: Layer, is_search: bool, counters: &mut Counters) {
        let end = Instant::now();
        let took = end - std::mem::replace(&mut self.start, end);
        counters.layer_mut(layer).time += took;
        if is_search {
            counters.solver_time += took;
            if took > SLOW {
                counters.slow_time += took;
            }
        }
    }
}

//! Hangs, proved: inputs on which the program never ends, each with a proof.
//!
//! **Problem.** A hang is the bug that no sanitizer shows and no crash reveals. A tester that runs out of time does not know
//! whether the program is slow or will never end.
//!
//! **Paper.** Chapter 6 of the Splat dissertation (TNT). A *lasso* is a path to a place, the stem, and a way from there back to
//! it, the cycle. It hangs if there is a *recurrent set*: states that the stem reaches, that imply the conditions of the
//! cycle, and that the cycle leads into again.
//!
//! **Idea.** Whenever a path passes the same symbolic decision again, or has run for long without one, a copy of it walks
//! on by itself to the head of each loop around it, or to the entry of the function that calls itself (`walk`). What one
//! round changes there becomes symbols, cells, and one more round from any values of them is walked along all its ways
//! (`cells`, `round`). That gives a relation: under which conditions which way leads back, with which values. In it a set
//! is looked for (`sets`): values that a way leaves as they are, the cycle's own conditions for a few rounds, values met
//! on a walk with concrete values or the conditions of a template that hold all along it (`simulate`, `pool`), inputs under
//! which every value stays. If none is found, a number is looked for that falls with every round (`ranking`). Inputs that
//! reach a set end there as a `non-termination`; all others go on.
//!
//! **What is different.** Everything is shown bit by bit over the machine's integers, wrap-around included, so there are no
//! false alarms from unbounded numbers, and unsigned wrap-around is found. Sets are not solved for by Farkas' lemma but
//! guessed from a walk and reduced until they are closed. Branches in the cycle are several ways of one relation. What
//! does not change, on the heap too, is part of the state as it is; pointers are followed by their values, so a circular
//! list repeats after as many rounds as it has elements. Cells that no condition depends on, such as counters, are left
//! out. A certificate lets z3 and cvc5 check the result without us (`certificate`).
//!
//! **Assumes** that nobody else changes memory: nothing is claimed where a second thread runs. A cycle that asks for an
//! input, the time or a choice is none, and one that allocates and does not free is not looked at. An endless recursion
//! counts as one though natively its stack is full some day.
//!
//! **Can miss** sets outside the templates, cycles through more than 24 cells or 24 ways, cycles in which pointers to
//! ever new objects go round, and floating-point numbers (said at the end of the run). Sites at which looking was
//! fruitless are looked at less and less often; a path that hangs comes by often enough.
//!
//! **Costs** a count at every decision, and a walk and some questions at those passed again.

mod cells;
mod certificate;
mod pool;
mod ranking;
mod round;
mod sets;
mod simulate;
mod walk;
mod words;

use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use analysis::{CallGraph, Cfg, Loops};
use explore::{Asking, Foreseen, Foresight, Means, Path, Report, SlotId, Technique};
use ir::{BlockId, FuncId, Module};
use rustc_hash::FxHashMap;
use solver::Patience;
use vm::{Effect, State};
use witness::{Bug, BugKind, Ending, Place};

use self::cells::Registers;
use self::round::{Round, all_of};
use self::sets::{Found, How, Judge};
use self::walk::{Body, Cut, Halt, Shape, Stamina, Walker};
use crate::{ANY_FLAGS, Entry, Flag, Making, Part, Resume, Takes};

pub const NAME: &str = "lassos";
const SLOT: SlotId = SlotId(7);
/// Frames below the top one whose loops are looked at.
const MAX_FRAMES: usize = 4;
/// Fruitless looks at a site after which it has to be passed twice as often before the next.
const PATIENCE: u32 = 3;
/// From so many passes on a path is worth hard questions.
const MANY_PASSES: u32 = 4;
const HARD_QUESTION: Duration = Duration::from_secs(2);

/// What the command line says.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// Loops that are meant to be endless, `FILE:LINE`.
    pub allow: Vec<String>,
}

/// How the line-up makes it.
pub const ENTRY: Entry =
    Entry { name: NAME, flags: &[ALLOW], check: ANY_FLAGS, make, resume: Resume::FromPending, company: &[] };

pub const ALLOW: Flag = Flag {
    name: "lassos-allow",
    help: "Loops that are meant to be endless: not reported by --with lassos",
    takes: Takes::List { named: "FILE:LINE" },
};

fn make(making: &Making) -> Result<Part, String> {
    let flags = Flags { allow: making.flags.list(&ALLOW).to_vec() };
    Ok(Part::passive(Lassos::new(flags)))
}

/// How often a path has passed a site.
#[derive(Clone, Default)]
struct Passed(Vec<(u64, u32)>);

impl Passed {
    fn pass(&mut self, site: u64) -> u32 {
        match self.0.iter_mut().find(|(known, _)| *known == site) {
            Some((_, count)) => {
                *count += 1;
                *count
            }
            None => {
                self.0.push((site, 1));
                1
            }
        }
    }
}

/// What came of looking at a site.
#[derive(Default)]
struct Site {
    n_fruitless: u32,
    /// Passes before the next look.
    least: u32,
}

#[derive(Default)]
struct Tally {
    n_candidates: u64,
    n_rounds: u64,
    n_repeats: u64,
    n_recurs: u64,
    n_ended: u64,
    n_left: u64,
    n_outside: u64,
    n_floats: u64,
    n_unknown: u64,
    n_asked: u64,
    n_endless: u64,
    n_allowed: u64,
}

impl Tally {
    fn to_json(&self) -> String {
        let Tally {
            n_candidates,
            n_rounds,
            n_repeats,
            n_recurs,
            n_ended,
            n_left,
            n_outside,
            n_floats,
            n_unknown,
            n_asked,
            n_endless,
            n_allowed,
        } = self;
        serde_json::json!({
            "candidates": n_candidates,
            "rounds": n_rounds,
            "repeating": n_repeats,
            "recurrent": n_recurs,
            "ending": n_ended,
            "left": n_left,
            "outside": n_outside,
            "floats": n_floats,
            "unknown": n_unknown,
            "asked": n_asked,
            "endless_by_construction": n_endless,
            "allowed": n_allowed,
        })
        .to_string()
    }
}

pub struct Lassos {
    flags: Flags,
    calls: Option<CallGraph>,
    loops: FxHashMap<FuncId, Rc<Loops>>,
    registers: Registers,
    sites: FxHashMap<u64, Site>,
    tally: Tally,
    /// Where cycles with floating-point numbers were met.
    floats: BTreeSet<(String, u32)>,
}

impl Lassos {
    pub fn new(flags: Flags) -> Lassos {
        Lassos {
            flags,
            calls: None,
            loops: FxHashMap::default(),
            registers: Registers::default(),
            sites: FxHashMap::default(),
            tally: Tally::default(),
            floats: BTreeSet::new(),
        }
    }

    fn loops(&mut self, module: &Module, func: FuncId) -> Rc<Loops> {
        let calls = self.calls.get_or_insert_with(|| CallGraph::new(module));
        self.loops.entry(func).or_insert_with(|| Rc::new(Loops::new(&Cfg::new(module, func, calls)))).clone()
    }

    /// Whether a path that passes a site is looked at.
    fn is_due(&mut self, path: &mut Path, effect: &Effect) -> Option<(u64, u32)> {
        let top = &path.state.top;
        let kind = u64::from(matches!(effect, Effect::OutOfFuel));
        let place = if kind == 1 { 0 } else { u64::from(top.block.0) << 20 | u64::from(top.inst_idx) };
        let site = (u64::from(top.func.0) << 44 ^ place) << 1 | kind;
        let n_passed = path.state.slots.get_mut::<Passed>(SLOT).pass(site);
        let n_passed = if kind == 1 { n_passed + 1 } else { n_passed };
        let least = self.sites.get(&site).map_or(2, |known| known.least.max(2));
        (n_passed >= least && (n_passed - 1).is_power_of_two()).then_some((site, n_passed))
    }

    /// The cuts that a state may be on its way to, the innermost first.
    fn cuts(&mut self, module: &Module, state: &State) -> Vec<(Cut, Body)> {
        let mut cuts = Vec::new();
        for (nth, frame) in state.frames().take(MAX_FRAMES).enumerate() {
            let depth = state.depth - nth as u32;
            let loops = self.loops(module, frame.func);
            let mut around = loops.innermost(frame.block);
            while let Some(id) = around {
                let it = loops.get(id);
                let cut = Cut { func: frame.func, block: it.header, depth, shape: Shape::Loop };
                cuts.push((cut, Body(it.body.clone())));
                around = it.parent;
            }
            let recurs = state.frames().skip(nth + 1).take(4 * MAX_FRAMES).any(|below| below.func == frame.func);
            if recurs {
                let cut = Cut { func: frame.func, block: BlockId(0), depth, shape: Shape::Recursion };
                cuts.push((cut, Body(Vec::new())));
            }
        }
        cuts
    }

    fn look(&mut self, path: &Path, means: &mut Means) -> Option<Foreseen> {
        let image = means.machine.image;
        for (cut, body) in self.cuts(&image.module, &path.state) {
            self.tally.n_candidates += 1;
            let looked = self.look_at(cut, &body, path, means);
            match looked {
                Ok(Some(foreseen)) => return Some(foreseen),
                Ok(None) => {}
                Err(Halt::Left) => self.tally.n_left += 1,
                Err(Halt::Outside) => {
                    self.tally.n_outside += 1;
                    // Cycles around this one ask for it as well.
                    return None;
                }
                Err(Halt::Float) => {
                    self.tally.n_floats += 1;
                    let (place, _) = image.whereabouts(&path.state);
                    self.floats.insert((place.file.to_string(), place.line));
                }
                Err(Halt::Arrived | Halt::Unknown | Halt::Tired) => self.tally.n_unknown += 1,
            }
        }
        None
    }

    fn look_at(&mut self, mut cut: Cut, body: &Body, path: &Path, means: &mut Means) -> Result<Option<Foreseen>, Halt> {
        let mut stamina = Stamina { n_blocks: 20_000, n_ways: 24 };
        let mut stem = Walker::of_path(path);
        match stem.follow(&cut, body, means, &mut stamina) {
            Halt::Arrived => {}
            halt => return Err(halt),
        }
        cut.depth = stem.state.depth;
        let round = Round::at(cut, body, stem, &mut self.registers, means, &mut stamina)?;
        self.tally.n_rounds += 1;
        let mut judge = Judge { round: &round, means, n_asked: 0, max_steps: 1 << 12 };
        let found = judge.find();
        let ends = found.is_none() && judge.ranking().is_some();
        self.tally.n_asked += judge.n_asked;
        self.tally.n_ended += u64::from(ends);
        Ok(found.and_then(|found| self.tell(&round, found, means)))
    }

    fn tell(&mut self, round: &Round, found: Found, means: &mut Means) -> Option<Foreseen> {
        let loops = self.loops(&means.machine.image.module, round.cut.func);
        let (place, stack) = place_of(round, &loops, means);
        let is_endless = round.cut.shape == Shape::Loop
            && self.has_no_way_out(round.cut, &means.machine.image.module)
            && round.ways.iter().all(|way| way.conds.is_empty());
        let message = match is_endless {
            true => "endless by construction: nothing leads out of this loop".to_string(),
            false => words::words(round, &found, means),
        };
        let certificate = certificate::certificate(round, &found, &message, means);
        let terms = &mut means.machine.terms;
        let whole = all_of(terms, &found.set);
        let there = round.at_start(terms, whole)?;
        let stem = all_of(terms, &round.stem.conds);
        let hangs = terms.and(stem, there);
        let holds = terms.not(hangs);
        if self.is_allowed(&place) {
            self.tally.n_allowed += 1;
            let reason = format!("the endless loop at {}:{} is allowed", place.file, place.line);
            let ending = Ending::Pruned { technique: NAME, reason };
            return Some(Foreseen { holds, ending, input: found.input, certificate: None });
        }
        match found.how {
            _ if is_endless => self.tally.n_endless += 1,
            How::Repeats | How::Period(_) => self.tally.n_repeats += 1,
            How::Recurs => self.tally.n_recurs += 1,
        }
        let bug = Bug { kind: BugKind::NonTermination, message, place, stack, also: Vec::new() };
        Some(Foreseen { holds, ending: Ending::Bug(bug), input: found.input, certificate })
    }

    /// Whether no edge leads out of the loop.
    fn has_no_way_out(&mut self, cut: Cut, module: &Module) -> bool {
        let loops = self.loops(module, cut.func);
        loops.headed_by(cut.block).is_some_and(|id| loops.get(id).exits.is_empty())
    }

    fn is_allowed(&self, place: &Place) -> bool {
        self.flags.allow.iter().any(|allowed| {
            let Some((file, line)) = allowed.rsplit_once(':') else { return false };
            line.parse() == Ok(place.line) && std::path::Path::new(&*place.file).ends_with(file)
        })
    }
}

/// Where the cycle is: the loop's line, or that of the function that calls itself.
fn place_of(round: &Round, loops: &Loops, means: &Means) -> (Place, Vec<Place>) {
    let image = means.machine.image;
    let (place, stack) = image.whereabouts(&round.stem.state);
    let function = image.module.function(round.cut.func);
    if function.is_runtime {
        return (place, stack);
    }
    let place = match round.cut.shape {
        Shape::Recursion => Place { line: function.line, column: 0, ..place },
        Shape::Loop => {
            // The head of `for (;;)` has nothing but what it goes round: the jump back is on the loop's own line.
            let body = loops.headed_by(round.cut.block).map_or(&[][..], |id| &loops.get(id).body);
            let spans = body.iter().flat_map(|block| &function.block(*block).spans);
            let known = spans.filter(|span| image.module.span(**span).line > 0);
            let first = known.min_by_key(|span| (image.module.span(**span).line, image.module.span(**span).column));
            first.map_or(place, |span| image.place_at(round.cut.func, *span))
        }
    };
    (place, stack)
}

impl Technique for Lassos {
    fn name(&self) -> &'static str {
        NAME
    }

    fn foresight(&mut self) -> Option<&mut dyn Foresight> {
        Some(self)
    }

    fn report(&mut self) -> Report {
        let mut text = String::new();
        if self.tally.n_ended > 0 {
            text.push_str(&format!("lassos: cycles were shown to end {} times\n", self.tally.n_ended));
        }
        for (file, line) in &self.floats {
            text.push_str(&format!("lassos: {file}:{line}: a cycle with floating-point numbers is not decided\n"));
        }
        Report { summary: Some(self.tally.to_json()), text, ..Report::default() }
    }
}

impl Foresight for Lassos {
    fn foresee(&mut self, path: &mut Path, at: &Effect, means: &mut Means, asking: Asking) -> Option<Foreseen> {
        // Labels would have to be carried along.
        if means.machine.watching.flow().is_some() {
            return None;
        }
        let site = self.is_due(path, at);
        let (site, n_passed) = match asking {
            Asking::First => site?,
            Asking::Again => site.unwrap_or((0, MANY_PASSES)),
        };
        let patience = match n_passed < MANY_PASSES && asking == Asking::First {
            true => Patience::Short,
            false => Patience::Usual { at_most: Some(HARD_QUESTION) },
        };
        let usual = means.stack.set_patience(patience);
        let (stack, eval, work) = (&mut *means.stack, &mut *means.eval, means.work);
        let found = means.machine.aside(|machine| {
            let mut means = Means { machine, stack, eval, work };
            self.look(path, &mut means)
        });
        means.stack.set_patience(usual);
        let known = self.sites.entry(site).or_default();
        if found.is_none() {
            known.n_fruitless += 1;
            if known.n_fruitless.is_multiple_of(PATIENCE) {
                known.least = (known.least.max(2) * 2).min(1 << 16);
            }
        }
        found
    }
}

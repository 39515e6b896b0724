//! Hangs, proved: inputs on which the program never ends, each with a proof.
//!
//! **Problem.** A hang is the bug that no sanitizer shows and no crash reveals. A tester that runs out of time does not know
//! whether the program is slow or will never end.
//!
//! **Paper.** Chapter 6 of the Splat dissertation (TNT). A *lasso* is a path to a place, the stem, and a way from there back to
//! it, the cycle. It hangs if there is a *recurrent set*: states that the stem reaches, that satisfy the conditions of the
//! cycle, and that the cycle leads into again.
//!
//! **Idea.** A path passes the same symbolic decision again, or has run for long without one. Then a copy of it walks on to the
//! head of each loop around it, or to the entry of the function that calls itself (`walk`). What one round changes there
//! becomes symbols, the *cells*. One more round, from any values of the cells, is walked along all its ways (`cells`, `round`).
//! That gives a relation: which way leads back under which conditions, with which values. If a number falls with every round,
//! the cycle ends (`ranking`). Otherwise a set is looked for (`sets`) among
//!
//! - values that a way leaves as they are,
//! - the cycle's own conditions for a few rounds,
//! - values met on a walk with concrete values, and conditions of a template that hold all along it (`simulate`, `pool`),
//! - inputs under which every value stays.
//!
//! Inputs that reach a set end there as a `non-termination`; all others go on.
//!
//! **What is different.** Everything is shown bit by bit over the machine's integers. So unbounded numbers give no false alarms,
//! and hangs by unsigned wrap-around are found. Section 6.4 of the paper solves for the coefficients of linear inequalities by
//! Farkas' lemma. That needs a solver for products of unknowns, holds for rationals only, and would have to be shown again for
//! machine integers. Here inequalities, equations and low bits are guessed from a walk, with coefficients that programs have.
//! Those that a round does not keep are dropped until the rest is closed. Each step is one question without quantifiers, and
//! what is left is already shown. `--lassos-integers` does the same where nothing wraps around (`integers`) and tells what it
//! finds beside the findings. The paper's i-th weakening is `n_visits` and the unrolling.
//!
//! Branches in the cycle are several ways of one relation. What does not change, on the heap too, is part of the state as it
//! is. Pointers are followed by their values, so a circular list repeats after as many rounds as it has elements. Cells that no
//! condition depends on, such as counters, are left out, even where they would overflow after very many rounds. A certificate
//! lets z3 and cvc5 check the result without us (`certificate`).
//!
//! **Assumes** that nobody else changes memory: nothing is claimed where a second thread runs. A cycle that asks for an
//! input, the time or a choice is no hang. One that allocates and does not free is not looked at. An endless recursion
//! counts as a hang, though natively it fills its stack some day.
//!
//! **Can miss** sets outside the templates, cycles through more than 24 cells or 24 ways, cycles in which pointers to
//! ever new objects go round, and most cycles that floating-point numbers decide (said at the end of the run). Places where
//! looking was fruitless are looked at less and less often; a path that hangs comes by often enough.
//!
//! **Costs** a count at every decision that loops or recursions lead to, and looks in proportion to the work of exploring (`credit`): one part in fourteen, beside
//! the first few. Loops that count up to a limit are known to end without a look (`analysis::counting`).

mod cells;
mod certificate;
mod company;
mod credit;
mod integers;
mod pool;
mod ranking;
mod round;
mod sets;
mod simulate;
mod tally;
mod walk;
mod words;

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use analysis::{CallGraph, Cfg, LoopId, Loops};
use explore::{Asking, Foreseen, Foresight, Maker, Means, Path, Report, SlotId, Technique};
use ir::{BlockId, FuncId, Module};
use rustc_hash::{FxHashMap, FxHashSet};
use solver::Patience;
use vm::{Effect, State};
use witness::{Bug, BugKind, Ending, Place};

use self::cells::Registers;
use self::company::COMPANY;
use self::credit::{Asked, Credit};
use self::round::{Rest, Round, RoundKey, all_of};
use self::sets::{Found, How, Judge};
use self::tally::{Tally, Told, Total};
use self::walk::{Body, Cut, Halt, Shape, Stamina, Walker, symbols_since};
use crate::{Entry, Flag, Making, Named, Others, Part, Resume, Takes};

pub const NAME: &str = "lassos";
const SLOT: SlotId = SlotId(7);
/// Frames from the top one on whose loops are looked at: soon, and where a path comes by often or decides nothing any more.
const MAX_FRAMES: usize = 4;
const MAX_FRAMES_LATER: usize = 32;
/// Frames below one among which its function is looked for.
const MAX_FRAMES_BELOW: usize = 16;
/// Fruitless looks at a site after which it has to be passed twice as often before the next.
const PATIENCE: u32 = 3;
/// From so many passes on a path is worth hard questions.
const MANY_PASSES: u32 = 4;
/// Rounds walked with concrete values, and of numbers that do not wrap around.
const MAX_STEPS: usize = 1 << 12;
const MAX_STEPS_WIDE: usize = 64;
/// Blocks that one look at a cut may walk.
const MAX_BLOCKS: u64 = 20_000;
/// From so many passes on a look needs no credit.
const SUSPICIOUS: u32 = 8;
const HARD_QUESTION: Duration = Duration::from_secs(2);

/// What the command line says.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// Loops that are meant to be endless, `FILE:LINE`.
    pub allow: Vec<String>,
    pub integers: Integers,
}

/// Over which integers sets are looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Integers {
    #[default]
    Machine,
    /// Over unbounded ones too, which is told as such.
    Unbounded,
}

/// How the line-up makes it.
pub const ENTRY: Entry =
    Entry { name: NAME, flags: &[ALLOW, INTEGERS], check, make, resume: Resume::FromPending, company: COMPANY };

pub const ALLOW: Flag = Flag {
    name: "lassos-allow",
    help: "Loops that are meant to be endless: not reported by --with lassos",
    takes: Takes::List { named: "FILE:LINE" },
};

pub const INTEGERS: Flag = Flag {
    name: "lassos-integers",
    help: "Also tell of cycles that would never end if numbers did not wrap around",
    takes: Takes::Nothing,
};

/// What is to be allowed has to be a place.
fn check(flags: &crate::Flags, _: Named) -> Result<(), String> {
    let is_place = |allowed: &str| allowed.rsplit_once(':').is_some_and(|(_, line)| line.parse::<u32>().is_ok());
    match flags.list(&ALLOW).iter().find(|allowed| !is_place(allowed)) {
        Some(wrong) => Err(format!("--lassos-allow: `{wrong}` is no FILE:LINE")),
        None => Ok(()),
    }
}

fn make(making: &Making) -> Result<Part, String> {
    let integers = if making.flags.is_given(&INTEGERS) { Integers::Unbounded } else { Integers::Machine };
    let flags = Flags { allow: making.flags.list(&ALLOW).to_vec(), integers };
    Ok(Part::passive(Lassos::new(flags, making.others, Total::default())))
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
    /// A look was due when there was no credit for it.
    is_owed: bool,
}

/// The loops of a function.
struct Nest {
    loops: Loops,
    /// Those that count and end.
    counting: Vec<bool>,
}

impl Nest {
    fn counts(&self, id: LoopId) -> bool {
        self.counting[id.idx()]
    }

    /// Whether a block is in a loop that may not end.
    fn goes_round(&self, block: BlockId) -> bool {
        let mut around = self.loops.innermost(block);
        while let Some(id) = around {
            if !self.counts(id) {
                return true;
            }
            around = self.loops.get(id).parent;
        }
        false
    }
}

pub struct Lassos {
    flags: Flags,
    calls: Option<CallGraph>,
    nests: FxHashMap<FuncId, Rc<Nest>>,
    registers: Registers,
    sites: FxHashMap<u64, Site>,
    /// Rounds that end whatever the input is.
    ending: FxHashSet<RoundKey>,
    credit: Credit,
    others: Others,
    tally: Tally,
    total: Total,
}

impl Lassos {
    pub fn new(flags: Flags, others: Others, total: Total) -> Lassos {
        total.open();
        Lassos {
            flags,
            calls: None,
            nests: FxHashMap::default(),
            registers: Registers::default(),
            sites: FxHashMap::default(),
            ending: FxHashSet::default(),
            credit: Credit::default(),
            others,
            tally: Tally::default(),
            total,
        }
    }

    fn nest(&mut self, module: &Module, func: FuncId) -> Rc<Nest> {
        let calls = self.calls.get_or_insert_with(|| CallGraph::new(module));
        let made = self.nests.entry(func).or_insert_with(|| {
            let cfg = Cfg::new(module, func, calls);
            let loops = Loops::new(&cfg);
            let counting = analysis::counting(module, func, &cfg, &loops);
            Rc::new(Nest { loops, counting })
        });
        made.clone()
    }

    /// Whether a state may be on its way to a cut. Most are not, and nothing has to be counted for them.
    fn goes_round(&mut self, module: &Module, state: &State) -> bool {
        state
            .frames()
            .take(MAX_FRAMES_LATER)
            .enumerate()
            .any(|(nth, frame)| self.nest(module, frame.func).goes_round(frame.block) || recurs(state, nth, frame.func))
    }

    /// Whether a path that passes a site is looked at.
    fn is_due(&mut self, path: &mut Path, effect: &Effect, means: &Means) -> Option<(u64, u32)> {
        if !self.goes_round(&means.machine.image.module, &path.state) {
            return None;
        }
        let (work, asked) = (means.work, Asked::so_far(means.stack.counters()));
        let top = &path.state.top;
        let kind = u64::from(matches!(effect, Effect::OutOfFuel));
        let place = if kind == 1 { 0 } else { u64::from(top.block.0) << 20 | u64::from(top.inst_idx) };
        let site = (u64::from(top.func.0) << 44 ^ place) << 1 | kind;
        let n_passed = path.state.slots.get_mut::<Passed>(SLOT).pass(site);
        let n_passed = if kind == 1 { n_passed + 1 } else { n_passed };
        if n_passed < 2 {
            return None;
        }
        let known = self.sites.entry(site).or_default();
        known.is_owed |= n_passed >= known.least && (n_passed - 1).is_power_of_two();
        // Who asks for more is given it, and a path that has come by so often is worth a look at any price: with what it has
        // gathered, exploring it may have become far slower than anybody counts.
        let is_worth_it =
            n_passed > SUSPICIOUS || self.flags.integers == Integers::Unbounded || self.credit.is_enough(work, asked);
        if !known.is_owed || !is_worth_it {
            return None;
        }
        known.is_owed = false;
        Some((site, n_passed))
    }

    /// The cuts that a state may be on its way to, the innermost first.
    fn cuts(&mut self, module: &Module, state: &State, n_frames: usize) -> Vec<(Cut, Body)> {
        let mut cuts = Vec::new();
        for (nth, frame) in state.frames().take(n_frames).enumerate() {
            let depth = state.depth - nth as u32;
            let nest = self.nest(module, frame.func);
            let mut around = nest.loops.innermost(frame.block);
            while let Some(id) = around {
                let it = nest.loops.get(id);
                around = it.parent;
                if nest.counts(id) {
                    continue;
                }
                let cut = Cut { func: frame.func, block: it.header, depth, shape: Shape::Loop };
                cuts.push((cut, Body(it.body.clone())));
            }
            if recurs(state, nth, frame.func) {
                let cut = Cut { func: frame.func, block: BlockId(0), depth, shape: Shape::Recursion };
                cuts.push((cut, Body(Vec::new())));
            }
        }
        cuts
    }

    fn look(&mut self, cuts: &[(Cut, Body)], path: &Path, means: &mut Means) -> Option<Foreseen> {
        let image = means.machine.image;
        for (cut, body) in cuts {
            self.tally.n_candidates += 1;
            let looked = self.look_at(*cut, body, path, means);
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
                    let (place, _) = image.whereabouts(&path.state);
                    self.tally.has_floats(&place);
                }
                Err(Halt::Arrived | Halt::Unknown | Halt::Tired) => self.tally.n_unknown += 1,
            }
        }
        None
    }

    fn look_at(&mut self, mut cut: Cut, body: &Body, path: &Path, means: &mut Means) -> Result<Option<Foreseen>, Halt> {
        let mut stamina = Stamina { n_blocks: MAX_BLOCKS, n_ways: 24 };
        let round = self.round(&mut cut, body, path, means, &mut stamina);
        self.credit.spend_blocks(MAX_BLOCKS - stamina.n_blocks);
        let round = round?;
        self.tally.n_rounds += 1;
        let nest = self.nest(&means.machine.image.module, round.cut.func);
        let (place, stack) = place_of(&round, &nest.loops, means);
        let key = round.key();
        if round.rest == Rest::Leaves && self.ending.contains(&key) {
            self.tally.ends(&place);
            return Ok(None);
        }
        let mut judge = Judge::new(&round, means, MAX_STEPS);
        let mut found = judge.repeats();
        let ends = found.is_none() && !round.has_floats && judge.ranking().is_some();
        if found.is_none() && !ends {
            found = if round.has_floats { judge.returns() } else { judge.find() };
        }
        self.tally.n_asked += judge.n_asked;
        if found.is_none() && round.has_floats {
            self.tally.has_floats(&place);
        }
        if ends {
            self.tally.ends(&place);
            if round.is_free_of_inputs(&means.machine.terms) {
                self.ending.insert(key);
            }
        }
        if found.is_none() && self.flags.integers == Integers::Unbounded {
            self.look_over_integers(&round, &place, means);
        }
        let n_inputs = path.state.inputs.len();
        Ok(found.and_then(|found| self.tell(&round, found, (place, stack), n_inputs, means)))
    }

    /// Whether the cycle would never end if nothing wrapped around. That is told, and the path goes on.
    fn look_over_integers(&mut self, round: &Round, place: &Place, means: &mut Means) {
        let Some(wide) = integers::widened(round, &mut means.machine.terms) else { return };
        let mut judge = Judge::new(&wide, means, MAX_STEPS_WIDE);
        let found = judge.find_growing();
        self.tally.n_asked += judge.n_asked;
        if let Some(found) = found {
            self.tally.hangs_over_integers(place, words::stays(&wide, &found, means));
        }
    }

    fn round(
        &mut self,
        cut: &mut Cut,
        body: &Body,
        path: &Path,
        means: &mut Means,
        stamina: &mut Stamina,
    ) -> Result<Round, Halt> {
        let mut stem = Walker::of_path(path, self.others);
        match stem.follow(cut, body, means, stamina) {
            Halt::Arrived => {}
            halt => return Err(halt),
        }
        cut.depth = stem.state.depth;
        Round::at(*cut, body, stem, &mut self.registers, means, stamina)
    }

    fn tell(
        &mut self,
        round: &Round,
        found: Found,
        (place, stack): (Place, Vec<Place>),
        n_inputs: usize,
        means: &mut Means,
    ) -> Option<Foreseen> {
        let nest = self.nest(&means.machine.image.module, round.cut.func);
        let is_endless = round.cut.shape == Shape::Loop
            && has_no_way_out(round.cut, &nest.loops)
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
        // No test could say what was there.
        let settled = symbols_since(&round.stem.state, n_inputs, terms);
        if terms.symbols(hangs).iter().any(|symbol| settled.contains(symbol)) {
            return None;
        }
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
        self.tally.hangs(&place);
        let bug = Bug { kind: BugKind::NonTermination, message, place, stack, also: Vec::new() };
        Some(Foreseen { holds, ending: Ending::Bug(bug), input: found.input, certificate })
    }

    fn is_allowed(&self, place: &Place) -> bool {
        self.flags.allow.iter().any(|allowed| {
            let Some((file, line)) = allowed.rsplit_once(':') else { return false };
            line.parse() == Ok(place.line) && std::path::Path::new(&*place.file).ends_with(file)
        })
    }
}

/// Whether the function of the n-th frame from the top is called further down as well.
fn recurs(state: &State, nth: usize, func: FuncId) -> bool {
    state.frames().skip(nth + 1).take(MAX_FRAMES_BELOW).any(|below| below.func == func)
}

/// Whether no edge leads out of the loop.
fn has_no_way_out(cut: Cut, loops: &Loops) -> bool {
    loops.headed_by(cut.block).is_some_and(|id| loops.get(id).exits.is_empty())
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

    fn for_workers(&self) -> Option<Maker> {
        let (flags, others, total) = (self.flags.clone(), self.others, Total::default());
        Some(Arc::new(move || Box::new(Lassos::new(flags.clone(), others, total.clone()))))
    }

    fn report(&mut self) -> Report {
        let (tally, told) = self.total.close(std::mem::take(&mut self.tally));
        let text = if told == Told::All { tally.text() } else { String::new() };
        Report { summary: Some(tally.to_json()), text, ..Report::default() }
    }
}

impl Foresight for Lassos {
    fn foresee(&mut self, path: &mut Path, at: &Effect, means: &mut Means, asking: Asking) -> Option<Foreseen> {
        // Labels would have to be carried along.
        if means.machine.watching.flow().is_some() {
            return None;
        }
        let site = self.is_due(path, at, means);
        let (site, n_passed) = match asking {
            Asking::First => site?,
            Asking::Again => site.unwrap_or((0, MANY_PASSES)),
        };
        // Asked again, what was found then is found in as many frames or in more: the innermost cycle counts.
        let is_soon = asking == Asking::First && n_passed < SUSPICIOUS && !matches!(at, Effect::OutOfFuel);
        let n_frames = if is_soon { MAX_FRAMES } else { MAX_FRAMES_LATER };
        let cuts = self.cuts(&means.machine.image.module, &path.state, n_frames);
        if cuts.is_empty() {
            return None;
        }
        let patience = match n_passed < MANY_PASSES && asking == Asking::First {
            true => Patience::Short,
            false => Patience::Usual { at_most: Some(HARD_QUESTION) },
        };
        let usual = means.stack.set_patience(patience);
        let before = Asked::so_far(means.stack.counters());
        let (stack, eval, work) = (&mut *means.stack, &mut *means.eval, means.work);
        let found = means.machine.aside(|machine| {
            let mut means = Means { machine, stack, eval, work };
            self.look(&cuts, path, &mut means)
        });
        means.stack.set_patience(usual);
        self.credit.spend_questions(before, Asked::so_far(means.stack.counters()));
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

//! The proof as a file that SMT solvers can check by themselves.
//!
//! Each question stands between `push` and `pop` and says by `:status` what the answer must be: that the input of the test
//! reaches the set (`sat`), that nothing in the set leaves the cycle (`unsat`), and for each way round that it leads from the
//! set into the set, or changes nothing (`unsat`). The conditions of the stem belong to the set: they are about inputs, which
//! stay. Where a question has its answer without them they are left out, since they may be far harder than the cycle.

use std::fmt::Write;

use explore::Means;
use rustc_hash::FxHashSet;
use solver::{Answer, PathCondition};
use term::{Assignment, Script, TermId};
use witness::Certificate;

use super::round::{Round, all_of};
use super::sets::{Found, How};

struct Question {
    about: String,
    status: &'static str,
    asserted: Vec<TermId>,
}

/// `None` where a term is too deep to be written over other values, or cannot be written.
pub fn certificate(round: &Round, found: &Found, words: &str, means: &mut Means) -> Option<Certificate> {
    let stem: Vec<TermId> = round.stem.condition.iter().collect();
    let terms = &mut means.machine.terms;
    let whole = all_of(terms, &found.set);
    let stays = round.stays(terms);
    let mut questions = Vec::new();

    let there = round.at_start(terms, whole)?;
    let mut reached = stem.clone();
    reached.push(there);
    let symbols: FxHashSet<_> = reached.iter().flat_map(|t| terms.symbols(*t).to_vec()).collect();
    let mut symbols: Vec<_> = symbols.into_iter().collect();
    symbols.sort_unstable_by_key(|symbol| symbol.index());
    for symbol in symbols {
        let t = terms.symbol_term(symbol);
        let value = terms.constant(u128::from(found.input.get(symbol)), terms.symbol_width(symbol));
        reached.push(terms.eq(t, value));
    }
    questions.push(Question { about: "the input reaches the set".into(), status: "sat", asserted: reached });

    let leaves = terms.not(stays);
    let asserted = impossible(&stem, &[whole, leaves], means);
    questions.push(Question { about: "in the set some way leads back".into(), status: "unsat", asserted });

    for (nth, way) in round.ways.iter().enumerate() {
        let terms = &mut means.machine.terms;
        // Where no value changes the set is not left either, and that is easier to see.
        let (after, about) = match found.how {
            How::Repeats => {
                let same: Vec<TermId> =
                    round.relevant_cells().map(|(idx, cell)| terms.eq(way.updates[idx], cell.symbol)).collect();
                (all_of(terms, &same), "leaves all that it depends on as it is")
            }
            How::Period(_) | How::Recurs => (round.after(terms, way, whole)?, "leads back into the set"),
        };
        let outside = terms.not(after);
        let taken = all_of(terms, &way.conds);
        let asserted = impossible(&stem, &[whole, taken, outside], means);
        let about = format!("way {} {about}", nth + 1);
        questions.push(Question { about, status: "unsat", asserted });
    }

    let terms = &means.machine.terms;
    let mut script = Script::new();
    let mut text = String::new();
    for t in questions.iter().flat_map(|question| &question.asserted) {
        script.define(terms, *t, &mut text);
    }
    // Some operations on floats cannot be written.
    if script.has_gaps() {
        return None;
    }
    for Question { about, status, asserted } in questions {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "; {about}\n(push 1)");
        asserted.iter().for_each(|t| script.assert(terms, *t, &mut text));
        let _ = writeln!(text, "(set-info :status {status})\n(check-sat)\n(pop 1)");
    }
    let head = format!("; {words}\n; A cycle that is never left. Every answer must be the `:status` before it.\n");
    Some(Certificate { suffix: "smt2", text: format!("{head}(set-logic ALL)\n{text}") })
}

/// These conditions, which never hold together; with those of the stem only where they are needed for that.
fn impossible(stem: &[TermId], conds: &[TermId], means: &mut Means) -> Vec<TermId> {
    let all = all_of(&mut means.machine.terms, conds);
    let (nothing, any) = (PathCondition::default(), Assignment::new());
    match means.stack.check(&mut means.machine.terms, &nothing, &any, all) {
        Answer::Unsat => conds.to_vec(),
        Answer::Sat(_) | Answer::Unknown(_) => stem.iter().chain(conds).copied().collect(),
    }
}

//! What is said of bytes, as terms.

use ::grammar::{Bytes, Texts};
use term::{SymbolId, TermId, Terms, View};

pub fn symbol(terms: &Terms, byte: TermId) -> SymbolId {
    match terms.view(byte) {
        View::Symbol(symbol) => symbol,
        _ => unreachable!("the bytes and the size of a text are symbols"),
    }
}

pub fn is_text(terms: &mut Terms, bytes: &[TermId], text: &[u8]) -> TermId {
    let mut condition = terms.tru();
    for (byte, value) in bytes.iter().zip(text) {
        let value = terms.constant(u128::from(*value), 8);
        let same = terms.eq(*byte, value);
        condition = terms.and(condition, same);
    }
    condition
}

pub fn and_not_text(terms: &mut Terms, condition: TermId, bytes: &[TermId], text: &[u8]) -> TermId {
    let same = is_text(terms, bytes, text);
    let differs = terms.not(same);
    terms.and(condition, differs)
}

fn is_one_of(terms: &mut Terms, byte: TermId, set: &Bytes) -> TermId {
    let mut condition = terms.fls();
    for (low, high) in set.ranges() {
        let (low, high) = (terms.constant(u128::from(low), 8), terms.constant(u128::from(high), 8));
        let (above, below) = (terms.ule(low, byte), terms.ule(byte, high));
        let inside = terms.and(above, below);
        condition = terms.or(condition, inside);
    }
    condition
}

/// The bytes are one of the texts.
pub fn holds(terms: &mut Terms, bytes: &[TermId], texts: &Texts) -> TermId {
    match texts {
        Texts::Each { sets, except } => {
            let mut condition = terms.tru();
            for (byte, set) in bytes.iter().zip(sets) {
                let inside = is_one_of(terms, *byte, set);
                condition = terms.and(condition, inside);
            }
            except.iter().fold(condition, |condition, text| and_not_text(terms, condition, bytes, text))
        }
        Texts::Along { start, layers } => {
            let mut at: Vec<(u32, TermId)> = vec![(*start, terms.tru())];
            for (layer, byte) in layers.iter().zip(bytes) {
                let mut then: Vec<(u32, TermId)> = Vec::new();
                for arrow in layer {
                    let Some((_, here)) = at.iter().find(|(state, _)| *state == arrow.from).copied() else { continue };
                    let goes = is_one_of(terms, *byte, &arrow.by);
                    let goes = terms.and(here, goes);
                    match then.iter_mut().find(|(state, _)| *state == arrow.to) {
                        Some((_, there)) => *there = terms.or(*there, goes),
                        None => then.push((arrow.to, goes)),
                    }
                }
                at = then;
            }
            let none = terms.fls();
            at.into_iter().fold(none, |any, (_, here)| terms.or(any, here))
        }
    }
}

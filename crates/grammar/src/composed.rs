//! Tokens that a scanner matches in several steps: a quote begins another start condition, what it matches there gives nothing,
//! until the closing quote gives the token. Its texts are those of all steps, one behind the other.

use crate::Language;
use crate::scanner::takes_more;

/// What a pattern of the other start condition does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<K> {
    /// It stays there and gives nothing.
    Within,
    /// It gives the token, or ends what gives none, and leaves.
    Closes(K),
    /// Anything else: no text goes this way.
    Other,
}

/// The texts that begin with one of `opens`, by what closes them; `None` where the steps could be seen otherwise than they were put
/// together. `steps` has the patterns that match between, in the scanner's order.
pub fn composed<K: Clone + PartialEq>(opens: &Language, steps: &[(Step<K>, &Language)]) -> Option<Vec<(K, Language)>> {
    // Of what two patterns match the earlier has it.
    let own = |idx: usize| {
        let earlier = steps[..idx].iter().filter(|(step, _)| *step != steps[idx].0);
        earlier.fold(steps[idx].1.clone(), |own, (_, language)| own.minus(language))
    };
    let own: Vec<Language> = (0..steps.len()).map(own).collect();
    let is_within = |idx: usize| steps[idx].0 == Step::Within;
    let is_other = |idx: usize| steps[idx].0 == Step::Other;
    let runs: Vec<bool> = (0..steps.len()).map(|idx| is_within(idx) && is_run(&own[idx])).collect();
    for first in (0..steps.len()).filter(|idx| is_within(*idx) && !own[*idx].is_empty()) {
        for second in (0..steps.len()).filter(|idx| !is_other(*idx) && !own[*idx].is_empty()) {
            for pattern in 0..steps.len() {
                // A run may take a piece of the next, if what is left of that is a run as well.
                let is_harmless = runs[pattern] && runs[second];
                if !is_harmless && takes_more(steps[pattern].1, &own[first], &own[second]) {
                    return None;
                }
            }
        }
    }
    let anything = Language::of_bytes(&(0..=255).collect::<Vec<u8>>());
    for closes in (0..steps.len()).filter(|idx| matches!(steps[*idx].0, Step::Closes(_))) {
        if (0..steps.len()).any(|idx| is_other(idx) && takes_more(steps[idx].1, &own[closes], &anything)) {
            return None;
        }
    }
    let mut within = Language::empty();
    for idx in (0..steps.len()).filter(|idx| is_within(*idx)) {
        within = within.or(&own[idx]);
    }
    let begun = opens.then(&within.repeated());
    let mut composed: Vec<(K, Language)> = Vec::new();
    for (idx, (step, _)) in steps.iter().enumerate() {
        let Step::Closes(key) = step else { continue };
        let language = begun.then(&own[idx]);
        match composed.iter_mut().find(|(known, _)| known == key) {
            Some((_, known)) => *known = known.or(&language),
            None => composed.push((key.clone(), language)),
        }
    }
    Some(composed)
}

/// Whether any piece of a text is a text as well, and any row of them: some bytes, one or more of them, or one of them.
fn is_run(language: &Language) -> bool {
    let bytes: Vec<u8> = (0..=255u8).filter(|byte| language.accepts(&[*byte])).collect();
    let one = Language::of_bytes(&bytes);
    let same = |other: &Language| language.minus(other).is_empty() && other.minus(language).is_empty();
    same(&one) || same(&one.then(&one.repeated()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::{Alphabet, Case};

    fn language(pattern: &str) -> Language {
        Language::of_regex(pattern, Alphabet::Bytes, Case::Matters).unwrap()
    }

    fn of(opens: &str, steps: &[(Step<u8>, &str)]) -> Option<Vec<(u8, Language)>> {
        let languages: Vec<(Step<u8>, Language)> =
            steps.iter().map(|(step, text)| (step.clone(), language(text))).collect();
        let steps: Vec<_> = languages.iter().map(|(step, language)| (step.clone(), language)).collect();
        composed(&language(opens), &steps)
    }

    #[test]
    fn strings_are_put_together() {
        let escapes =
            [(Step::Closes(1), "\""), (Step::Within, r"\\[^\n]"), (Step::Within, r#"[^"\\\n]+"#), (Step::Other, "\n")];
        let found = of("\"", &escapes).unwrap();
        let string = &found[0].1;
        assert!(
            string.accepts(br#""a\"b""#)
                && string.accepts(b"\"\"")
                && !string.accepts(b"\"\n\"")
                && !string.accepts(br#""a"b""#)
        );
        let doubled = of("'", &[(Step::Within, "''"), (Step::Within, "[^'\n]+"), (Step::Closes(1), "'")]).unwrap();
        assert!(doubled[0].1.accepts(b"'it''s'") && !doubled[0].1.accepts(b"'it's'"));
        // The dot comes last, so the quote closes.
        let dot = of("\"", &[(Step::Closes(1), "\""), (Step::Within, "[^\n]")]).unwrap();
        assert!(dot[0].1.accepts(b"\"ab\"") && !dot[0].1.accepts(b"\"a\"b\""));
    }

    #[test]
    fn what_may_be_seen_otherwise_is_not() {
        // `a"` is one step.
        assert!(of("\"", &[(Step::Within, "[a-z]|a\""), (Step::Closes(1), "\"")]).is_none());
        // A star and a slash of which each is within would close.
        assert!(of(r"/\*", &[(Step::Closes(1), r"\*/"), (Step::Within, "(?s-u:.)")]).is_none());
    }
}

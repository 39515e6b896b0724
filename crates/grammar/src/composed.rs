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

/// Tokens that were put together, by what closes them.
#[derive(Debug)]
pub struct Composed<K> {
    pub texts: Vec<(K, Language)>,
    pub left_out: LeftOut,
}

/// Whether steps had to be left out because the scanner could see them otherwise than they were put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOut {
    Nothing,
    Steps,
}

/// The texts that begin with one of `opens`; `None` where it cannot be said where they end. `steps` has the patterns that match
/// between, in the scanner's order.
pub fn composed<K: Clone + PartialEq>(opens: &Language, steps: &[(Step<K>, &Language)]) -> Option<Composed<K>> {
    // Of what two patterns match the earlier has it.
    let own = |idx: usize| {
        let earlier = steps[..idx].iter().filter(|(step, _)| *step != steps[idx].0);
        earlier.fold(steps[idx].1.clone(), |own, (_, language)| own.minus(language))
    };
    let own: Vec<Language> = (0..steps.len()).map(own).collect();
    let mut kinds: Vec<Step<K>> = steps.iter().map(|(step, _)| step.clone()).collect();
    let mut left_out = LeftOut::Nothing;
    while let Some(first) = doubtful(&kinds, steps, &own) {
        kinds[first] = Step::Other;
        left_out = LeftOut::Steps;
    }
    let is = |idx: &usize, kind: Step<K>| kinds[*idx] == kind;
    let anything = Language::of_bytes(&(0..=255).collect::<Vec<u8>>());
    for closes in (0..steps.len()).filter(|idx| matches!(kinds[*idx], Step::Closes(_))) {
        let mut others = (0..steps.len()).filter(|idx| is(idx, Step::Other));
        if others.any(|idx| takes_more(steps[idx].1, &own[closes], &anything)) {
            return None;
        }
    }
    let mut within = Language::empty();
    for idx in (0..steps.len()).filter(|idx| is(idx, Step::Within)) {
        within = within.or(&own[idx]);
    }
    let begun = opens.then(&within.repeated());
    let mut texts: Vec<(K, Language)> = Vec::new();
    for (idx, kind) in kinds.iter().enumerate() {
        let Step::Closes(key) = kind else { continue };
        let language = begun.then(&own[idx]);
        match texts.iter_mut().find(|(known, _)| known == key) {
            Some((_, known)) => *known = known.or(&language),
            None => texts.push((key.clone(), language)),
        }
    }
    Some(Composed { texts, left_out })
}

/// A step behind which the scanner may see something else than the next step.
fn doubtful<K: PartialEq>(kinds: &[Step<K>], steps: &[(Step<K>, &Language)], own: &[Language]) -> Option<usize> {
    let is_within = |idx: &usize| kinds[*idx] == Step::Within && !own[*idx].is_empty();
    let is_run = |idx: usize| is_within(&idx) && is_run(&own[idx]);
    let runs: Vec<bool> = (0..steps.len()).map(is_run).collect();
    (0..steps.len()).filter(is_within).find(|first| {
        let mut seconds = (0..steps.len()).filter(|idx| kinds[*idx] != Step::Other && !own[*idx].is_empty());
        seconds.any(|second| {
            (0..steps.len()).any(|pattern| {
                // A run may take a piece of the next, if what is left of that is a run as well.
                let is_harmless = runs[pattern] && runs[second];
                !is_harmless && takes_more(steps[pattern].1, &own[*first], &own[second])
            })
        })
    })
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

    fn of(opens: &str, steps: &[(Step<u8>, &str)]) -> (Vec<(u8, Language)>, LeftOut) {
        let languages: Vec<(Step<u8>, Language)> =
            steps.iter().map(|(step, text)| (step.clone(), language(text))).collect();
        let steps: Vec<_> = languages.iter().map(|(step, language)| (step.clone(), language)).collect();
        let Composed { texts, left_out } = composed(&language(opens), &steps).unwrap();
        (texts, left_out)
    }

    #[test]
    fn strings_are_put_together() {
        let escapes =
            [(Step::Closes(1), "\""), (Step::Within, r"\\[^\n]"), (Step::Within, r#"[^"\\\n]+"#), (Step::Other, "\n")];
        let (found, left_out) = of("\"", &escapes);
        assert_eq!(left_out, LeftOut::Nothing);
        let string = &found[0].1;
        assert!(
            string.accepts(br#""a\"b""#)
                && string.accepts(b"\"\"")
                && !string.accepts(b"\"\n\"")
                && !string.accepts(br#""a"b""#)
        );
        let doubled = of("'", &[(Step::Within, "''"), (Step::Within, "[^'\n]+"), (Step::Closes(1), "'")]).0;
        assert!(doubled[0].1.accepts(b"'it''s'") && !doubled[0].1.accepts(b"'it's'"));
        // The dot comes last, so the quote closes.
        let dot = of("\"", &[(Step::Closes(1), "\""), (Step::Within, "[^\n]")]).0;
        assert!(dot[0].1.accepts(b"\"ab\"") && !dot[0].1.accepts(b"\"a\"b\""));
    }

    #[test]
    fn what_may_be_seen_otherwise_is_left_out() {
        // `a"` is one step.
        let (swallowed, left_out) = of("\"", &[(Step::Within, "[a-z]|a\""), (Step::Closes(1), "\"")]);
        assert!(left_out == LeftOut::Steps && swallowed[0].1.accepts(b"\"\"") && !swallowed[0].1.accepts(b"\"a\""));
        // A star and a slash of which each is within would close.
        let (comment, left_out) = of(r"/\*", &[(Step::Closes(1), r"\*/"), (Step::Within, "(?s-u:.)")]);
        assert!(left_out == LeftOut::Steps && !comment[0].1.accepts(b"/* */ */"));
        // A backslash before an n is another step.
        let (lone, left_out) = of(
            "\"",
            &[(Step::Within, r#"[^"\\]+"#), (Step::Within, r"\\n"), (Step::Within, r"\\"), (Step::Closes(1), "\"")],
        );
        assert!(left_out == LeftOut::Steps && lone[0].1.accepts(br#""a\nb""#) && !lone[0].1.accepts(br#""\b""#));
    }
}

//! What a token may look like, as far as it matters to its neighbours: `not` needs a blank before a name and `!` needs none, although
//! both are one token.
//!
//! A token with finitely many texts is divided by whether its texts begin and end as words do. Any division is sound: what stands
//! between two tokens is found out for each part. A token of any length has one look, so there is a blank wherever one of its texts
//! may need it.

use std::borrow::Cow;

use ::grammar::{Grammar, Kind, Language, Token, TokenId};

/// One look of a token; number 0 is any of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Look {
    pub token: TokenId,
    number: u8,
}

impl Look {
    pub fn any(token: TokenId) -> Look {
        Look { token, number: 0 }
    }
}

pub struct Looks {
    /// The languages of those tokens that have several.
    several: Vec<Vec<Language>>,
}

impl Looks {
    pub fn new(tokens: &[Token]) -> Looks {
        Looks { several: tokens.iter().map(|token| divided(&token.language, &token.kind)).collect() }
    }

    /// The looks that a token has.
    pub fn of(&self, token: TokenId) -> impl Iterator<Item = Look> + use<> {
        let n_looks = self.several[token.idx()].len() as u8;
        let numbers = if n_looks == 0 { 0..=0 } else { 1..=n_looks };
        numbers.map(move |number| Look { token, number })
    }

    pub fn language<'g>(&'g self, look: Look, grammar: &'g Grammar) -> &'g Language {
        match look.number {
            0 => &grammar.token(look.token).language,
            number => &self.several[look.token.idx()][usize::from(number) - 1],
        }
    }

    /// The token as if it had only this look.
    pub fn token<'g>(&self, look: Look, grammar: &'g Grammar) -> Cow<'g, Token> {
        let token = grammar.token(look.token);
        match look.number {
            0 => Cow::Borrowed(token),
            _ => {
                let language = self.language(look, grammar).clone();
                Cow::Owned(Token { kind: language.kind(), language, ..token.clone() })
            }
        }
    }
}

/// The parts of a language; none where it has one look.
fn divided(language: &Language, kind: &Kind) -> Vec<Language> {
    let Kind::Finite { longest } = kind else { return Vec::new() };
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    let (words, others): (Vec<u8>, Vec<u8>) = (0..=255u8).partition(is_word);
    let (word, other) = (Language::of_bytes(&words), Language::of_bytes(&others));
    let all: Vec<u8> = (0..=255).collect();
    let up_to = |n: usize| {
        (0..n)
            .fold(Language::of_text(b""), |inner, _| Language::of_text(b"").or(&Language::of_bytes(&all).then(&inner)))
    };
    let inner = up_to(longest.saturating_sub(2));
    let mut parts = vec![language.and(&word), language.and(&other)];
    for (first, last) in [(&word, &word), (&other, &other), (&word, &other), (&other, &word)] {
        parts.push(language.and(&first.then(&inner).then(last)));
    }
    // One byte begins and ends alike.
    let mut looks = vec![parts[0].or(&parts[2]), parts[1].or(&parts[3]), parts[4].clone(), parts[5].clone()];
    looks.retain(|part| !part.is_empty());
    if looks.len() > 1 { looks } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use ::grammar::{Kind, Language};

    use super::divided;

    fn finite(texts: &[&str]) -> Vec<Language> {
        let language = texts.iter().fold(Language::empty(), |all, text| all.or(&Language::of_text(text.as_bytes())));
        let longest = texts.iter().map(|text| text.len()).max().unwrap();
        divided(&language, &Kind::Finite { longest })
    }

    #[test]
    fn words_and_signs_look_different() {
        let looks = finite(&["or", "||", "x", "!", "not!"]);
        let of = |text: &str| looks.iter().filter(|look| look.accepts(text.as_bytes())).count();
        assert_eq!(looks.len(), 3);
        assert!(["or", "||", "x", "!", "not!"].into_iter().all(|text| of(text) == 1));
        assert!(looks.iter().any(|look| look.accepts(b"or") && look.accepts(b"x") && !look.accepts(b"!")));
        assert!(finite(&["true", "false"]).is_empty() && finite(&["+", "-"]).is_empty());
    }
}

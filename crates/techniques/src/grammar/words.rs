//! Words that mean something to the program: those of a dictionary, and its own string constants.

use std::path::Path;

use ::grammar::{Grammar, TokenId, Yield};
use rustc_hash::FxHashMap;

/// Longer constants are messages, not names.
const MAX_LEN: usize = 32;

/// The words that a token accepts.
pub type Words = FxHashMap<TokenId, Vec<Vec<u8>>>;

/// Sorts words by the token that each is scanned as. Only holes have use for them.
pub fn sort(grammar: &Grammar, words: impl IntoIterator<Item = Vec<u8>>) -> Words {
    let mut sorted = Words::default();
    for word in words {
        for mode in grammar.scanner.modes() {
            let Some(Yield::Token(named)) = grammar.scanner.scan(&word, mode) else { continue };
            let Some(token) = grammar.token_in(named, mode) else { continue };
            if grammar.token(token).is_hole() && grammar.token(token).language.accepts(&word) {
                let of_token = sorted.entry(token).or_default();
                if !of_token.contains(&word) {
                    of_token.push(word.clone());
                }
            }
        }
    }
    sorted
}

/// A dictionary as AFL and libFuzzer read it: `name="text"` or `"text"`, with `\\`, `\"` and `\xHH`.
pub fn read(file: &Path) -> Result<Vec<Vec<u8>>, String> {
    let bytes = std::fs::read(file).map_err(|why| format!("--grammar-words {}: {why}", file.display()))?;
    let text = String::from_utf8_lossy(&bytes);
    let mut words = Vec::new();
    for (idx, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let word = line.split_once('"').and_then(|(_, rest)| rest.strip_suffix('"')).and_then(unquote);
        let Some(word) = word else {
            return Err(format!(
                "--grammar-words {}:{}: write a word as `name=\"text\"` or `\"text\"`",
                file.display(),
                idx + 1
            ));
        };
        words.push(word);
    }
    Ok(words)
}

fn unquote(text: &str) -> Option<Vec<u8>> {
    let mut word = Vec::new();
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => match bytes.next()? {
                b'x' => {
                    let mut digit = || char::from(bytes.next()?).to_digit(16);
                    word.push((digit()? * 16 + digit()?) as u8);
                }
                b'n' => word.push(b'\n'),
                b't' => word.push(b'\t'),
                b'r' => word.push(b'\r'),
                other => word.push(other),
            },
            b'"' => return None,
            byte => word.push(byte),
        }
    }
    Some(word)
}

/// The string constants of the program itself.
pub fn constants(module: &ir::Module) -> Vec<Vec<u8>> {
    let own = module.globals.iter().filter(|global| global.is_constant && !global.is_runtime);
    let text = |global: &ir::Global| match &global.init {
        ir::Init::Bytes { bytes, relocs } if relocs.is_empty() => {
            let (zero, text) = bytes.split_last()?;
            (*zero == 0 && !text.is_empty() && text.len() <= MAX_LEN && !text.contains(&0)).then(|| text.to_vec())
        }
        _ => None,
    };
    own.filter_map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dictionaries_are_read_with_their_escapes() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("words");
        std::fs::write(&file, "# names\nprint=\"print\"\n\"a\\x41\\\\\"\n\n").unwrap();
        assert_eq!(read(&file), Ok(vec![b"print".to_vec(), b"aA\\".to_vec()]));
        std::fs::write(&file, "print\n").unwrap();
        assert!(read(&file).unwrap_err().contains(":1:"));
    }
}

//! A partition given by hand.
//!
//! Either JSON as `summary.json` has it, `[["A[0]", "count[0]"], ...]`, or text with one part a line and blanks or commas
//! between names, where `#` starts a comment. `A` alone stands for all of `A`, and `p.header` for all below it. An input
//! that is named nowhere is a part of its own.

/// Names of each part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Start {
    parts: Vec<Vec<String>>,
}

impl Start {
    pub fn parse(text: &str) -> Result<Start, String> {
        let parts: Vec<Vec<String>> = if text.trim_start().starts_with('[') {
            serde_json::from_str(text).map_err(|error| format!("not a list of lists of names: {error}"))?
        } else {
            let words = |line: &str| -> Vec<String> {
                let line = line.split('#').next().unwrap_or_default();
                line.split(|c: char| c.is_whitespace() || c == ',')
                    .filter(|word| !word.is_empty())
                    .map(String::from)
                    .collect()
            };
            text.lines().map(words).filter(|part: &Vec<String>| !part.is_empty()).collect()
        };
        let mut seen = std::collections::BTreeSet::new();
        for name in parts.iter().flatten() {
            if !seen.insert(name) {
                return Err(format!("`{name}` is in two parts"));
            }
        }
        Ok(Start { parts })
    }

    /// Which part a scalar is in: by its own name, else by the longest name above it.
    pub fn part_of(&self, scalar: &str) -> Option<usize> {
        let fits = |name: &str| {
            scalar
                .strip_prefix(name)
                .filter(|rest| rest.is_empty() || rest.starts_with(['[', '.', '+']))
                .map(|_| name.len())
        };
        let all = self.parts.iter().enumerate().flat_map(|(idx, part)| part.iter().map(move |name| (idx, name)));
        all.filter_map(|(idx, name)| Some((fits(name)?, idx))).max().map(|(_, idx)| idx)
    }

    /// Names that none of these scalars has.
    pub fn unknown<'s>(&'s self, scalars: &[String]) -> Vec<&'s str> {
        let is_known = |name: &&str| {
            scalars.iter().any(|scalar| {
                scalar.strip_prefix(*name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.', '+']))
            })
        };
        self.parts.iter().flatten().map(String::as_str).filter(|name| !is_known(name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read() {
        let text = Start::parse("A[0], count[0]  # the first\n\nA count\n").expect("valid");
        let json = Start::parse(r#"[["A[0]","count[0]"],["A","count"]]"#).expect("valid");
        assert_eq!(text, json);
        assert_eq!(text.part_of("A[0]"), Some(0));
        assert_eq!(text.part_of("A[01]"), Some(1));
        assert_eq!(text.part_of("count[7]"), Some(1));
        assert_eq!(text.part_of("counter"), None);
        assert_eq!(text.unknown(&["A[0]".to_string(), "count[0]".to_string()]), Vec::<&str>::new());
        assert_eq!(text.unknown(&["A[1]".to_string()]), ["A[0]", "count[0]", "count"]);
    }

    #[test]
    fn a_name_belongs_to_one_part() {
        assert!(Start::parse("a b\nb c").is_err());
        assert!(Start::parse("[1]").is_err());
    }
}

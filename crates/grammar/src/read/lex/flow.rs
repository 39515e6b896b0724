//! Whether code comes to a statement on every way, as far as its text tells.

/// Whether it comes to one that begins with one of these words. `code` has nothing in quotes and no comments.
pub fn always_comes_to(code: &str, words: &[&str]) -> bool {
    let mut reader = Reader { pieces: pieces(code), at: 0, words };
    let mut comes = false;
    while reader.at < reader.pieces.len() {
        comes |= reader.statement();
    }
    comes
}

pub fn always_returns(code: &str) -> bool {
    always_comes_to(code, &["return", "yyterminate"])
}

/// Words and single characters.
fn pieces(code: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let len = if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        pieces.push(&rest[..len]);
        rest = rest[len..].trim_start();
    }
    pieces
}

struct Reader<'c, 'w> {
    pieces: Vec<&'c str>,
    at: usize,
    words: &'w [&'w str],
}

impl Reader<'_, '_> {
    fn eat(&mut self, piece: &str) -> bool {
        let is_there = self.pieces.get(self.at) == Some(&piece);
        self.at += usize::from(is_there);
        is_there
    }

    /// Passes over one statement; whether it comes to one of the words on every way.
    fn statement(&mut self) -> bool {
        let Some(first) = self.pieces.get(self.at).copied() else { return false };
        self.at += 1;
        match first {
            "{" => {
                let mut returns = false;
                while self.at < self.pieces.len() && !self.eat("}") {
                    returns |= self.statement();
                }
                returns
            }
            "if" => {
                self.parentheses();
                let then = self.statement();
                let otherwise = self.eat("else") && self.statement();
                then && otherwise
            }
            "while" | "for" | "switch" => {
                self.parentheses();
                self.statement();
                false
            }
            "do" => {
                let returns = self.statement();
                if self.eat("while") {
                    self.parentheses();
                    self.eat(";");
                }
                returns
            }
            "case" | "default" => {
                while self.at < self.pieces.len() && !self.eat(":") {
                    self.at += 1;
                }
                false
            }
            ";" | "}" => false,
            _ => {
                self.expression();
                self.words.contains(&first)
            }
        }
    }

    /// To the semicolon, or to the end of the block.
    fn expression(&mut self) {
        while self.at < self.pieces.len() && !self.eat(";") {
            match self.pieces[self.at] {
                "(" => self.parentheses(),
                "}" => return,
                _ => self.at += 1,
            }
        }
    }

    fn parentheses(&mut self) {
        let mut depth = 0u32;
        while let Some(piece) = self.pieces.get(self.at) {
            self.at += 1;
            match *piece {
                "(" => depth += 1,
                ")" => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_through_code() {
        for code in [
            "return A;",
            "{ n++; return (A); }",
            "{ do { n++; return (A); } while (0); }",
            "{ { return A; } }",
            "if (a) return B; else { n++; return B; }",
            "{ if (a) { n++; } return B }",
            "for (;;) n++; return A;",
        ] {
            assert!(always_returns(code), "{code}");
        }
        for code in [
            "n++;",
            "if (a) return B;",
            "if (a) n++; else return B;",
            "while (n--) { return A; }",
            "{ if (a) { return B; } }",
            "switch (a) { case 1: return B; default: return C; }",
            "returned();",
        ] {
            assert!(!always_returns(code), "{code}");
        }
    }
}

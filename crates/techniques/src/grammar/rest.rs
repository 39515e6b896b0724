//! How a text that has begun may end, within what is left of its size and of its room.

use std::rc::Rc;

use ::grammar::{BeginningId, Between, Finish, TokenId, Whole};

use super::looks::Look;
use super::text::Text;
use super::writer::Writer;

pub type Tokens = Rc<[TokenId]>;

/// How a text may go on to its end.
#[derive(Clone, Debug)]
pub enum Rest {
    Is(Tokens),
    /// With more tokens than there may be.
    TooLarge,
    /// In more bytes than there are.
    NoRoom,
    Unknown,
}

impl Rest {
    fn tokens(&self) -> Option<Tokens> {
        match self {
            Rest::Is(tokens) => Some(Rc::clone(tokens)),
            Rest::TooLarge | Rest::NoRoom | Rest::Unknown => None,
        }
    }
}

/// Tokens that are tried to find a text for little room; beyond it such texts are left out.
const MAX_TRIES: u32 = 2_000;

impl Writer {
    /// A small text that begins so, within what is left of its size and of its bytes: the tokens that follow.
    pub fn finish(&mut self, beginning: BeginningId, size: u32, bytes: usize) -> Rest {
        let smallest = match self.smallest.get(&beginning) {
            Some(known) => known.clone(),
            None => {
                let rest = match self.beginnings.finish(beginning, self.max) {
                    Finish::By(tokens) => Rest::Is(tokens.into()),
                    Finish::Never => Rest::TooLarge,
                    Finish::Unknown => Rest::Unknown,
                };
                // Which look its last token has is not known here; a blank does no harm.
                let last = self.beginnings.last(beginning).map(Look::any);
                let written = rest.tokens().and_then(|tokens| self.write(last, &tokens));
                let smallest = (rest, written.map_or(usize::MAX, |written| written.len()));
                self.smallest.insert(beginning, smallest.clone());
                smallest
            }
        };
        match smallest.0.tokens() {
            None => return smallest.0,
            Some(tokens) if tokens.len() > size as usize => return Rest::TooLarge,
            Some(_) if smallest.1 <= bytes => return smallest.0,
            Some(_) => {}
        }
        // The one with the fewest tokens is too long. Another may be shorter.
        if let Some(known) = self.finished.get(&(beginning, size, bytes)) {
            return known.clone();
        }
        let mut tokens = Vec::new();
        let mut n_tries = MAX_TRIES;
        let found = match self.search(beginning, size, bytes, &mut tokens, &mut n_tries) {
            true => Rest::Is(Rc::from(tokens)),
            false => Rest::NoRoom,
        };
        self.finished.insert((beginning, size, bytes), found.clone());
        found
    }

    fn search(
        &mut self,
        at: BeginningId,
        size: u32,
        bytes: usize,
        tokens: &mut Vec<TokenId>,
        n_tries: &mut u32,
    ) -> bool {
        let (next, whole) = self.beginnings.next(at);
        if whole == Whole::Yes {
            return true;
        }
        for step in next.iter().filter(|step| step.least <= size) {
            if *n_tries == 0 {
                return false;
            }
            *n_tries -= 1;
            let Some((_, look)) = self.shortest_text(step.token) else { continue };
            let last = self.beginnings.last(at).map(Look::any);
            let Between::Is(blank) = self.between(last, look) else { continue };
            let len = blank.len() + self.shortest[step.token.idx()];
            if len > bytes {
                continue;
            }
            let below = self.beginnings.advance(at, step.token);
            tokens.push(step.token);
            if self.search(below, size - 1, bytes - len, tokens, n_tries) {
                return true;
            }
            tokens.pop();
        }
        false
    }

    /// What tokens look like behind one, each as short as it can be; `None` where they cannot stand together.
    fn write(&mut self, mut last: Option<Look>, tokens: &[TokenId]) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        for token in tokens {
            let (written, look) = self.shortest_text(*token)?;
            let Between::Is(blank) = self.between(last, look) else { return None };
            text.extend(blank);
            text.extend(written);
            last = Some(look);
        }
        Some(text)
    }

    /// The rest of a text that begins so and has this room.
    pub fn rest(&mut self, text: &Text, bytes: usize) -> Vec<u8> {
        let size = self.max - text.size;
        let Some(tokens) = self.finish(text.beginning, size, bytes).tokens() else { return Vec::new() };
        self.write(text.last, &tokens).unwrap_or_default()
    }
}

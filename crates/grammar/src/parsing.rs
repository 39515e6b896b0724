//! Where a text stands in its grammar: what its rules say of the beginning, and the parser that was made of them, where there is one.

use std::sync::Arc;

use crate::chart::{Chart, Rules};
use crate::lr::Stack;
use crate::{Grammar, TokenId};

pub struct Parsing {
    rules: Rules,
}

/// Behind the tokens of a beginning.
#[derive(Clone)]
pub struct Place {
    chart: Chart,
    stack: Option<Stack>,
}

impl Parsing {
    pub fn new(grammar: Arc<Grammar>) -> Parsing {
        Parsing { rules: Rules::new(grammar) }
    }

    pub fn grammar(&self) -> &Arc<Grammar> {
        self.rules.grammar()
    }

    /// Before the first token.
    pub fn beginning(&self) -> Place {
        let parser = self.grammar().parser.as_ref();
        Place { chart: self.rules.beginning(), stack: parser.map(|parser| parser.beginning()) }
    }

    /// The beginning with one token more; `None` where that is no beginning of a text.
    pub fn advance(&self, place: &Place, token: TokenId) -> Option<Place> {
        let stack = match (&self.grammar().parser, &place.stack) {
            (Some(parser), Some(stack)) => Some(parser.advance(stack, token)?),
            _ => None,
        };
        Some(Place { chart: self.rules.advance(&place.chart, token)?, stack })
    }

    /// Whether the beginning is a text by itself.
    pub fn is_whole(&self, place: &Place) -> bool {
        let accepts = match (&self.grammar().parser, &place.stack) {
            (Some(parser), Some(stack)) => parser.accepts(stack),
            _ => true,
        };
        accepts && self.rules.is_whole(&place.chart)
    }

    /// The tokens that may come next. With each, a size that all that follows has at least, itself included: by the rules
    /// exactly that, but the parser may want more.
    pub fn next(&self, place: &Place) -> Vec<(TokenId, u32)> {
        let mut next = self.rules.next(&place.chart);
        if let (Some(parser), Some(stack)) = (&self.grammar().parser, &place.stack) {
            next.retain(|(token, _)| parser.advance(stack, *token).is_some());
        }
        next
    }
}

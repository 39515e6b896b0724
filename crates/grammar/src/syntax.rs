//! A grammar as it was understood: variables, rules, tokens and the scanner that tells tokens apart.

use crate::lr::Parser;
use crate::{Kind, Language, ModeId, Scanner, Then};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            pub fn idx(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(
    /// What a rule rewrites; others say nonterminal.
    VariableId
);
id!(TokenId);
id!(RuleIdx);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Symbol {
    Variable(VariableId),
    Token(TokenId),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rule {
    pub of: VariableId,
    pub symbols: Vec<Symbol>,
}

#[derive(Clone, Debug)]
pub struct Token {
    pub name: String,
    /// The texts that are scanned as this token.
    pub language: Language,
    pub kind: Kind,
    /// Where the scanner knows it, and the mode behind it.
    pub mode: ModeId,
    pub then: Then<ModeId>,
    /// What rules call it: itself, unless it is the form that such a token has in another mode.
    pub known_as: TokenId,
}

impl Token {
    /// A token with several texts becomes a hole.
    pub fn is_hole(&self) -> bool {
        !matches!(self.kind, Kind::One(_))
    }
}

/// Something that was left out or could not be told, with its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub file: String,
    pub line: Option<usize>,
    pub text: String,
    pub lost: Lost,
}

/// Whether a grammar has texts that are not written because of what a note says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    Nothing,
    Texts,
}

/// Every variable derives some text, and the start leads to every variable and token.
#[derive(Clone, Debug)]
pub struct Grammar {
    pub variables: Vec<String>,
    /// Those that rules name, then what they are in other modes.
    pub tokens: Vec<Token>,
    pub n_named: usize,
    pub rules: Vec<Rule>,
    pub start: VariableId,
    pub scanner: Scanner,
    /// What bison made of the rules.
    pub parser: Option<Parser<TokenId>>,
    pub notes: Vec<Note>,
}

impl Grammar {
    /// The notes on what is not written.
    pub fn losses(&self) -> impl Iterator<Item = &Note> {
        self.notes.iter().filter(|note| note.lost == Lost::Texts)
    }

    pub fn token(&self, id: TokenId) -> &Token {
        &self.tokens[id.idx()]
    }

    /// The form that a token of the rules has in a mode.
    pub fn token_in(&self, known_as: TokenId, mode: ModeId) -> Option<TokenId> {
        // Those in other modes than the first are behind all that rules name.
        let is_it = |id: &TokenId| {
            let token = self.token(*id);
            token.known_as == known_as && token.mode == mode && token.kind != Kind::Empty
        };
        std::iter::once(known_as).chain((self.n_named..self.tokens.len()).map(|idx| TokenId(idx as u32))).find(is_it)
    }

    pub fn name(&self, symbol: Symbol) -> &str {
        match symbol {
            Symbol::Variable(variable) => &self.variables[variable.idx()],
            Symbol::Token(token) => &self.tokens[token.idx()].name,
        }
    }

    pub fn rules_of(&self, variable: VariableId) -> impl Iterator<Item = (RuleIdx, &Rule)> {
        let numbered = self.rules.iter().enumerate();
        numbered.filter(move |(_, rule)| rule.of == variable).map(|(idx, rule)| (RuleIdx(idx as u32), rule))
    }
}

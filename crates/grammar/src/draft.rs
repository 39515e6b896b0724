//! What readers of grammar files write down, and how it becomes a grammar: names resolved, useless symbols left out.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::language::Case;
use crate::lr::Parser;
use crate::scanner::TextsOf;
use crate::syntax::{Grammar, Lost, Note, Rule, Symbol, Token, TokenId, VariableId};
use crate::{Error, Kind, Language, ModeId, Pattern, Place, Scanner, Then, Unmatched, Yield};

/// Right-hand sides as people write them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    Sequence(Vec<Expr>),
    Choice(Vec<Expr>),
    Optional(Box<Expr>),
    /// None or more.
    Repeated(Box<Expr>),
    /// One or more.
    Several(Box<Expr>),
    Name(String),
    /// A token known by its one text.
    Text(Vec<u8>),
    /// Any token but these; every one where there are none.
    AnyBut(Vec<Expr>),
}

/// What a pattern of a scanner gives, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gives {
    Token(String),
    Nothing,
    Refused,
    Unknown,
}

#[derive(Clone, Debug)]
pub struct DraftPattern {
    pub gives: Gives,
    pub language: Language,
    pub place: Place,
    /// Where it matches; `None` in every mode.
    pub modes: Option<Vec<String>>,
    pub then: Then<String>,
}

impl DraftPattern {
    /// A pattern that matches anywhere.
    pub fn new(gives: Gives, language: Language) -> DraftPattern {
        DraftPattern { gives, language, place: Place::Anywhere, modes: None, then: Then::Same }
    }

    pub fn is_in(&self, mode: &String) -> bool {
        self.modes.as_ref().is_none_or(|modes| modes.contains(mode))
    }

    fn in_modes(self, gives: Yield, modes: &[String]) -> Pattern {
        let id = |name: &String| {
            let idx = modes.iter().position(|mode| mode == name);
            idx.map(|idx| ModeId(idx as u32))
        };
        // What leads to a mode that does not matter is not written either.
        let (gives, then) = match &self.then {
            Then::Same => (gives, Then::Same),
            Then::Pops => (gives, Then::Pops),
            Then::Goes(name) => id(name).map_or((Yield::Unknown, Then::Same), |id| (gives, Then::Goes(id))),
            Then::Pushes(name) => id(name).map_or((Yield::Unknown, Then::Same), |id| (gives, Then::Pushes(id))),
        };
        let modes = self.modes.map(|modes| modes.iter().filter_map(id).collect());
        Pattern { gives, language: self.language, place: self.place, modes, then }
    }
}

/// The mode that a text begins in, as lex calls it.
pub const FIRST_MODE: &str = "INITIAL";

#[derive(Debug)]
pub struct DraftRule {
    pub of: String,
    pub expr: Expr,
    pub line: Option<usize>,
}

/// What a text in quotes is in a rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Literals {
    /// A token of its own.
    #[default]
    Own,
    /// The token whose only text it is, if there is one; otherwise one of its own, whose case matters or not.
    AsScanned(Case),
}

/// A grammar as its file says it.
#[derive(Debug, Default)]
pub struct Draft {
    pub file: String,
    pub start: Option<String>,
    pub rules: Vec<DraftRule>,
    pub patterns: Vec<DraftPattern>,
    pub notes: Vec<Note>,
    /// Notes that only count where a rule has one of these tokens.
    pub notes_with: Vec<(Vec<String>, Note)>,
    pub texts: Literals,
    pub unmatched: Unmatched,
    /// Tokens that the scanner gives where the text is over.
    pub at_end: Vec<String>,
    /// Names that the file declares as tokens, with their lines.
    pub declared: Vec<(String, Option<usize>)>,
    /// What was made of the rules, where that is known and there are no others.
    pub parser: Option<Parser<String>>,
}

impl Draft {
    pub fn new(file: &str) -> Draft {
        Draft { file: file.to_string(), ..Draft::default() }
    }

    /// Says something that takes no texts away.
    pub fn note(&mut self, line: Option<usize>, text: impl Into<String>) {
        self.notes.push(Note { file: self.file.clone(), line, text: text.into(), lost: Lost::Nothing });
    }

    /// Says why texts of the language are not written.
    pub fn lose(&mut self, line: Option<usize>, text: impl Into<String>) {
        self.notes.push(Note { file: self.file.clone(), line, text: text.into(), lost: Lost::Texts });
    }

    /// The same, if a rule has one of these tokens.
    pub fn lose_with(&mut self, tokens: Vec<String>, line: Option<usize>, text: impl Into<String>) {
        let note = Note { file: self.file.clone(), line, text: text.into(), lost: Lost::Texts };
        self.notes_with.push((tokens, note));
    }

    pub fn error(&self, line: Option<usize>, message: impl Into<String>) -> Error {
        Error { file: self.file.clone(), line, message: message.into() }
    }

    pub fn into_grammar(self) -> Result<Grammar, Error> {
        Building::new(self).finish()
    }
}

/// The modes that texts come to, the first one first: those that tokens lead to.
pub fn reached_modes(patterns: &[DraftPattern]) -> Vec<String> {
    let mut modes = vec![FIRST_MODE.to_string()];
    let mut at = 0;
    while let Some(mode) = modes.get(at).cloned() {
        let is_in = |pattern: &&DraftPattern| pattern.is_in(&mode) && matches!(pattern.gives, Gives::Token(_));
        for pattern in patterns.iter().filter(is_in) {
            if let Then::Goes(to) | Then::Pushes(to) = &pattern.then
                && !modes.contains(to)
            {
                modes.push(to.clone());
            }
        }
        at += 1;
    }
    modes
}

/// A grammar under construction.
struct Building {
    draft: Draft,
    variables: Vec<String>,
    variable_ids: FxHashMap<String, VariableId>,
    tokens: Vec<String>,
    token_ids: FxHashMap<String, TokenId>,
    rules: Vec<Rule>,
    /// Names used where nothing says what they are.
    unknown: Vec<(String, Option<usize>)>,
}

/// The name of a token that is known by its text.
pub fn text_name(text: &[u8]) -> String {
    format!("\"{}\"", text.escape_ascii())
}

impl Building {
    fn new(mut draft: Draft) -> Building {
        let mut building = Building {
            variables: Vec::new(),
            variable_ids: FxHashMap::default(),
            tokens: Vec::new(),
            token_ids: FxHashMap::default(),
            rules: Vec::new(),
            unknown: Vec::new(),
            draft: Draft::new(&draft.file),
        };
        for pattern in &draft.patterns {
            if let Gives::Token(name) = &pattern.gives {
                building.token(name);
            }
        }
        let rules = std::mem::take(&mut draft.rules);
        building.draft = draft;
        for rule in &rules {
            building.variable(&rule.of);
        }
        building.give_texts_patterns(&rules);
        for rule in &rules {
            let of = building.variable(&rule.of);
            building.add(of, &rule.expr, rule.line);
        }
        building
    }

    fn variable(&mut self, name: &str) -> VariableId {
        if let Some(id) = self.variable_ids.get(name) {
            return *id;
        }
        let id = VariableId(self.variables.len() as u32);
        self.variables.push(name.to_string());
        self.variable_ids.insert(name.to_string(), id);
        id
    }

    fn token(&mut self, name: &str) -> TokenId {
        if let Some(id) = self.token_ids.get(name) {
            return *id;
        }
        let id = TokenId(self.tokens.len() as u32);
        self.tokens.push(name.to_string());
        self.token_ids.insert(name.to_string(), id);
        id
    }

    /// A token known by its text is matched before all patterns, unless the scanner says otherwise.
    fn give_texts_patterns(&mut self, rules: &[DraftRule]) {
        let mut texts = Vec::new();
        rules.iter().for_each(|rule| collect_texts(&rule.expr, &mut texts));
        let mut own = Vec::new();
        for text in texts {
            let name = text_name(&text);
            let (case, scanned) = match self.draft.texts {
                Literals::Own => (Case::Matters, None),
                Literals::AsScanned(case) => (case, self.scanned_as(&Language::of_text_in(&text, case))),
            };
            if let Some(id) = scanned {
                self.token_ids.insert(name, id);
                continue;
            }
            if !self.token_ids.contains_key(&name) {
                self.token(&name);
                own.push(DraftPattern::new(Gives::Token(name), Language::of_text_in(&text, case)));
            }
        }
        self.draft.patterns.splice(0..0, own);
    }

    /// The token of the first pattern that matches exactly this.
    fn scanned_as(&self, language: &Language) -> Option<TokenId> {
        let is_same = |other: &Language| language.minus(other).is_empty() && other.minus(language).is_empty();
        self.draft.patterns.iter().find_map(|pattern| match &pattern.gives {
            Gives::Token(name) if is_same(&pattern.language) => self.token_ids.get(name).copied(),
            _ => None,
        })
    }

    /// Adds the rules of a right-hand side.
    fn add(&mut self, of: VariableId, expr: &Expr, line: Option<usize>) {
        if let Expr::Choice(sides) = expr {
            return sides.iter().for_each(|side| self.add(of, side, line));
        }
        let mut symbols = Vec::new();
        if self.flatten(of, expr, line, &mut symbols) {
            // A variable that stands for itself adds no text.
            if symbols != [Symbol::Variable(of)] {
                self.rules.push(Rule { of, symbols });
            }
        }
    }

    /// The symbols of a right-hand side; what is optional or repeated gets a variable of its own. `false`: there are none,
    /// as something in it has no text.
    fn flatten(&mut self, of: VariableId, expr: &Expr, line: Option<usize>, symbols: &mut Vec<Symbol>) -> bool {
        match expr {
            Expr::Sequence(parts) => parts.iter().all(|part| self.flatten(of, part, line, symbols)),
            Expr::Name(name) => {
                match (self.variable_ids.get(name), self.token_ids.get(name)) {
                    (Some(id), _) => symbols.push(Symbol::Variable(*id)),
                    (None, Some(id)) => symbols.push(Symbol::Token(*id)),
                    (None, None) => {
                        self.unknown.push((name.clone(), line));
                        return false;
                    }
                }
                true
            }
            Expr::Text(text) if text.is_empty() => true,
            Expr::Text(text) => {
                let token = self.token(&text_name(text));
                symbols.push(Symbol::Token(token));
                true
            }
            Expr::Choice(_) | Expr::Optional(_) | Expr::Repeated(_) | Expr::Several(_) | Expr::AnyBut(_) => {
                let own = self.fresh(of);
                symbols.push(Symbol::Variable(own));
                self.add_group(own, expr, line);
                true
            }
        }
    }

    fn add_group(&mut self, own: VariableId, expr: &Expr, line: Option<usize>) {
        match expr {
            Expr::Optional(inner) => {
                self.rules.push(Rule { of: own, symbols: Vec::new() });
                self.add(own, inner, line);
            }
            Expr::Repeated(inner) | Expr::Several(inner) => {
                let mut symbols = vec![Symbol::Variable(own)];
                if self.flatten(own, inner, line, &mut symbols) {
                    self.rules.push(Rule { of: own, symbols });
                }
                match expr {
                    Expr::Repeated(_) => self.rules.push(Rule { of: own, symbols: Vec::new() }),
                    _ => self.add(own, inner, line),
                }
            }
            Expr::AnyBut(excluded) => {
                let excluded: FxHashSet<String> = excluded.iter().filter_map(token_name).collect();
                let others = self.token_ids.iter().filter(|(name, _)| !excluded.contains(*name));
                let mut others: Vec<TokenId> = others.map(|(_, id)| *id).collect();
                others.sort_unstable();
                self.rules.extend(others.into_iter().map(|id| Rule { of: own, symbols: vec![Symbol::Token(id)] }));
            }
            other => self.add(own, other, line),
        }
    }

    fn fresh(&mut self, of: VariableId) -> VariableId {
        let base = self.variables[of.idx()].split('\'').next().unwrap_or_default().to_string();
        let mut n = 1;
        while self.variable_ids.contains_key(&format!("{base}'{n}")) {
            n += 1;
        }
        self.variable(&format!("{base}'{n}"))
    }

    fn finish(mut self) -> Result<Grammar, Error> {
        self.report_unknown();
        for (tokens, note) in std::mem::take(&mut self.draft.notes_with) {
            let mut ids = tokens.iter().filter_map(|name| self.token_ids.get(name));
            let is_used = ids.any(|id| self.rules.iter().any(|rule| rule.symbols.contains(&Symbol::Token(*id))));
            self.draft.notes.extend(is_used.then_some(note));
        }
        let start = match &self.draft.start {
            Some(name) => self.variable_ids.get(name).copied(),
            None => (!self.variables.is_empty()).then_some(VariableId(0)),
        };
        let start = start.ok_or_else(|| self.draft.error(None, "there is no rule; write at least one"))?;
        let patterns = std::mem::take(&mut self.draft.patterns);
        let modes = reached_modes(&patterns);
        let resolve = |pattern: DraftPattern| {
            let gives = match &pattern.gives {
                Gives::Token(name) => self.token_ids.get(name).map_or(Yield::Unknown, |id| Yield::Token(*id)),
                Gives::Nothing => Yield::Nothing,
                Gives::Refused => Yield::Refused,
                Gives::Unknown => Yield::Unknown,
            };
            pattern.in_modes(gives, &modes)
        };
        let patterns = patterns.into_iter().map(resolve).collect();
        let scanner = Scanner::new(patterns, modes, self.draft.unmatched);
        let tokens = self.forms(&scanner);
        self.prune(start, tokens, scanner)
    }

    /// What each token looks like: in the first mode that knows it, and behind all of these what it looks like in others.
    fn forms(&mut self, scanner: &Scanner) -> Vec<Token> {
        let (mut tokens, mut others) = (Vec::new(), Vec::new());
        let mut led_elsewhere: Vec<TokenId> = Vec::new();
        for (idx, name) in self.tokens.iter().enumerate() {
            let known_as = TokenId(idx as u32);
            let mut forms = scanner.modes().filter_map(|mode| {
                let TextsOf { texts: language, then, elsewhere } = scanner.texts_of(known_as, mode);
                if !elsewhere.is_empty() {
                    led_elsewhere.push(known_as);
                }
                let kind = language.kind();
                (kind != Kind::Empty).then(|| Token { name: name.clone(), kind, language, mode, then, known_as })
            });
            tokens.push(forms.next().unwrap_or_else(|| Token {
                name: name.clone(),
                kind: Kind::Empty,
                language: Language::empty(),
                mode: ModeId::FIRST,
                then: Then::Same,
                known_as,
            }));
            others.extend(forms);
        }
        led_elsewhere.dedup();
        let is_used = |token: &TokenId| self.rules.iter().any(|rule| rule.symbols.contains(&Symbol::Token(*token)));
        for token in led_elsewhere.into_iter().filter(is_used) {
            let name = &self.tokens[token.idx()];
            self.draft.lose(
                None,
                format!("token {name} has texts with different modes behind them; only the first's are written"),
            );
        }
        tokens.extend(others);
        tokens
    }

    /// A name without rule or pattern is noted; that nothing is left without it is found out later.
    fn report_unknown(&mut self) {
        let mut seen = FxHashSet::default();
        for (name, line) in std::mem::take(&mut self.unknown) {
            if !seen.insert(name.clone()) {
                continue;
            }
            let declared = self.draft.declared.iter().find(|(declared, _)| *declared == name);
            let text = match declared {
                Some((_, at)) => {
                    let at = at.or(line);
                    self.draft.lose(
                        at,
                        format!("token `{name}` has no pattern, so rules with it are left out; say what it looks like by --grammar-tokens"),
                    );
                    continue;
                }
                None => format!("`{name}` has neither a rule nor a pattern, so rules with it are left out"),
            };
            self.draft.lose(line, text);
        }
    }

    /// Leaves out what derives no text and what the start does not lead to.
    fn prune(mut self, start: VariableId, tokens: Vec<Token>, scanner: Scanner) -> Result<Grammar, Error> {
        let named: FxHashSet<Symbol> = self.rules.iter().flat_map(|rule| rule.symbols.iter().copied()).collect();
        let is_used = |token: &&Token| named.contains(&Symbol::Token(token.known_as));
        for token in tokens.iter().filter(|token| token.kind == Kind::Empty).filter(is_used) {
            self.draft.note(
                None,
                format!(
                    "token {} has no text of its own, as earlier patterns take all or it matches only the empty one, so rules with it are left out",
                    token.name
                ),
            );
        }
        let derives = self.deriving(&tokens);
        if !derives[start.idx()] {
            let why: Vec<String> = self.draft.notes.iter().map(|note| note.text.clone()).take(3).collect();
            let why = if why.is_empty() { "its rules never come to an end".to_string() } else { why.join("; ") };
            return Err(self
                .draft
                .error(None, format!("no text can be made of `{}`: {why}", self.variables[start.idx()])));
        }
        let is_useful = |symbol: &Symbol| match symbol {
            Symbol::Variable(variable) => derives[variable.idx()],
            Symbol::Token(token) => tokens[token.idx()].kind != Kind::Empty,
        };
        let mut rules: Vec<Rule> = Vec::new();
        let mut seen = FxHashSet::default();
        for rule in self.rules.iter().filter(|rule| rule.symbols.iter().all(is_useful)) {
            if seen.insert(rule.clone()) {
                rules.push(rule.clone());
            }
        }
        let mut reached = vec![false; self.variables.len()];
        let mut open = vec![start];
        while let Some(variable) = open.pop() {
            if std::mem::replace(&mut reached[variable.idx()], true) {
                continue;
            }
            for symbol in rules.iter().filter(|rule| rule.of == variable).flat_map(|rule| &rule.symbols) {
                if let Symbol::Variable(next) = symbol {
                    open.push(*next);
                }
            }
        }
        for (idx, name) in self.variables.clone().into_iter().enumerate().filter(|(_, name)| !name.contains('\'')) {
            if !derives[idx] {
                self.draft.note(None, format!("`{name}` derives no text and is left out"));
            } else if !reached[idx] {
                self.draft.note(None, format!("`{name}` is not used and is left out"));
            }
        }
        let parser = self.draft.parser.map(|parser| parser.rename(|name| self.token_ids.get(name).copied()));
        let n_named = self.tokens.len();
        let grammar = renumber(self.variables, tokens, rules, start, &reached, scanner, self.draft.notes);
        Ok(Grammar { parser, n_named, ..grammar })
    }

    /// Which variables derive some text.
    fn deriving(&self, tokens: &[Token]) -> Vec<bool> {
        let mut derives = vec![false; self.variables.len()];
        loop {
            let mut has_changed = false;
            for rule in &self.rules {
                let all = rule.symbols.iter().all(|symbol| match symbol {
                    Symbol::Variable(variable) => derives[variable.idx()],
                    Symbol::Token(token) => tokens[token.idx()].kind != Kind::Empty,
                });
                if all && !std::mem::replace(&mut derives[rule.of.idx()], true) {
                    has_changed = true;
                }
            }
            if !has_changed {
                return derives;
            }
        }
    }
}

/// The grammar of the variables that were reached, numbered anew.
fn renumber(
    variables: Vec<String>,
    tokens: Vec<Token>,
    rules: Vec<Rule>,
    start: VariableId,
    reached: &[bool],
    scanner: Scanner,
    notes: Vec<Note>,
) -> Grammar {
    let mut numbers = vec![VariableId(0); variables.len()];
    let mut kept = Vec::new();
    for (idx, name) in variables.into_iter().enumerate().filter(|(idx, _)| reached[*idx]) {
        numbers[idx] = VariableId(kept.len() as u32);
        kept.push(name);
    }
    let rename = |symbol: &Symbol| match symbol {
        Symbol::Variable(variable) => Symbol::Variable(numbers[variable.idx()]),
        Symbol::Token(token) => Symbol::Token(*token),
    };
    let rules = rules
        .iter()
        .filter(|rule| reached[rule.of.idx()])
        .map(|rule| Rule { of: numbers[rule.of.idx()], symbols: rule.symbols.iter().map(rename).collect() })
        .collect();
    let n_named = tokens.len();
    Grammar { variables: kept, tokens, n_named, rules, start: numbers[start.idx()], scanner, parser: None, notes }
}

/// The name of the token that an expression is.
pub fn token_name(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Name(name) => Some(name.clone()),
        Expr::Text(text) => Some(text_name(text)),
        _ => None,
    }
}

fn collect_texts(expr: &Expr, texts: &mut Vec<Vec<u8>>) {
    match expr {
        Expr::Sequence(parts) | Expr::Choice(parts) | Expr::AnyBut(parts) => {
            parts.iter().for_each(|part| collect_texts(part, texts));
        }
        Expr::Optional(inner) | Expr::Repeated(inner) | Expr::Several(inner) => collect_texts(inner, texts),
        Expr::Text(text) if !text.is_empty() && !texts.contains(text) => texts.push(text.clone()),
        Expr::Text(_) | Expr::Name(_) => {}
    }
}

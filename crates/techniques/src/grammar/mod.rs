//! `grammar`: texts of a language, with holes that exploration fills.
//!
//! **Problem.** A program that reads a language keeps plain exploration busy in its scanner and parser: nearly every path is another
//! syntax error.
//!
//! **Paper.** Chapter 3 of the dissertation on Splat writes texts of a grammar instead. Tokens that have several texts (numbers,
//! names) are left open: they are *holes*, and a text with holes is a *symbolic string*. The paper lists all symbolic strings of a
//! size and runs the program on each from its beginning. The branches that the program takes fill the holes.
//!
//! **Idea.** Here the text takes shape while the program reads it (seat `refine`). Its bytes are ordinary symbols. As long as
//! nothing depends on a byte, nothing is said about it. When a condition, an address or a size does, the path forks over the
//! tokens that may stand there. A token with one text fixes its bytes. A hole of some length says that its bytes are one of its
//! token's texts. So texts that begin alike share everything up to where they part, and a program that stops reading is one
//! path, not one for each text it never saw.
//!
//! Earley's algorithm on the tokens so far tells which tokens may follow, and what each needs at least to become a whole text
//! (`grammar::Beginnings`). No text is begun that cannot be finished within `--grammar-max`.
//!
//! **What is different.** A hole holds the texts of its token, less those that an earlier pattern of the scanner takes. Where two
//! tokens would run together, a blank stands between them: of a token that is a sign or a word only beside the word (`looks`). So a program whose scanner and parser are those of the grammar never
//! sees a syntax error. The scanner may have modes (start conditions): which tokens may follow depends on the mode that the last
//! token left it in. The paper left holes unconstrained, and needed the program to throw away what did not scan.
//!
//! **Why nothing is lost.** Take a text of the language within the bound, and the path that the program takes on it. Follow that
//! path here. At every `refine` the text's next token is among the ways: what the text has so far is the beginning of a text, and
//! what it still needs is within the bound. Its length is one of the lengths, and its bytes satisfy the condition. Only one way
//! takes the text, because a text is scanned in one way only: its tokens and their lengths are given, and it ends once. So by
//! induction exactly one path ends with it. The other way round: the condition of every path implies that the bytes it looked at
//! begin a text of the language. Its test is completed to the smallest such text.
//!
//! **What the size of a text is.** Its tokens, and one more for each byte that a hole is longer than its shortest text, as `colt
//! grammar` counts. A word of `--grammar-words`, and a name that repeats an earlier one, count as one token.
//!
//! **Where a text ends.** In standard input and files, how many bytes there are is a symbol too, settled by the way "the text ends
//! here". In an array or an argument a zero ends it, and the rest is zero. A fuzzer's data is as long as its text. With
//! `--grammar-fill` the number of bytes is settled first, once for all texts, and blanks follow each of them; the ledger says so.
//!
//! **Mistakes.** With `--grammar-errors N` the tokens so far may also begin a text in which one was left out, doubled or replaced.
//! They stay one node for one sequence of tokens, so no text comes twice.
//!
//! **What it can miss** is in the ledger (`bounded-input`): texts that do not fit into the input, tokens of which the files do not
//! say what they look like, tokens that no blank keeps apart.

mod company;
mod conditions;
mod flags;
mod looks;
mod rest;
mod room;
mod text;
mod words;
mod writer;

use std::sync::{Arc, Mutex};

use ::grammar::{Beginnings, Grammar, TokenId};
use explore::{Endings, InputForm, InputKind, InputRequest, Maker, Means, Path, Report, Seats, Shapings, Technique};
use rustc_hash::{FxHashMap, FxHashSet};
use solver::Answer;
use term::{SymbolId, TermId, Terms};
use vm::{Effect, InputRecord, PickWhy};
use witness::{Ending, InputValue};

use conditions::symbol;
pub use flags::ENTRY;
use room::{End, Room};
use text::{DecidedAt, Ends, SLOT, Text};
use words::Words;
use writer::{Ways, Writer};

pub const NAME: &str = "grammar";

/// So many tokens decided in one place are no longer a program that reads one by one.
const AT_ONCE: u32 = 2;

/// What is written, and where.
pub struct Config {
    pub grammar: Arc<Grammar>,
    pub max: u32,
    pub max_mistakes: u32,
    pub words: Words,
    /// The input that is the text; `None` for the first that may be one.
    pub input: Option<String>,
    /// What fills the room behind a text, if it is filled.
    pub fill: Option<u8>,
    pub is_fuzzer: bool,
}

/// What all workers have seen.
#[derive(Default)]
struct Seen {
    /// What was read of symbolic strings when paths ended: tokens, and the lengths of holes.
    strings: FxHashSet<(Vec<TokenId>, Vec<usize>)>,
    input: Option<String>,
    /// Whole texts were decided because the program got to know how long they are.
    reads_at_once: bool,
}

/// What an effect depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum On {
    Decided,
    /// On how many bytes there are, and on no byte that is open.
    Size,
    Open,
}

/// What a symbol is of the text.
#[derive(Clone, Copy, Debug)]
enum Piece {
    Byte(usize),
    Size,
}

pub struct Texts {
    config: Arc<Config>,
    writer: Writer,
    /// The input that is the text, once it is known.
    input: Option<String>,
    /// The most bytes of a fuzzer's data. How many there are is asked for before the data is.
    fuzzer_size: Option<u64>,
    symbols: FxHashMap<SymbolId, Piece>,
    /// The size of the largest input whose symbols are known.
    n_learned: usize,
    /// The texts behind the ways that were listed last.
    listed: Vec<Text>,
    seen: Arc<Mutex<Seen>>,
}

impl Texts {
    fn new(config: Arc<Config>, seen: Arc<Mutex<Seen>>) -> Texts {
        let beginnings = Beginnings::new(Arc::clone(&config.grammar), config.max_mistakes);
        let writer = Writer::new(beginnings, config.max, config.words.clone(), config.fill);
        let input = config.input.clone();
        Texts {
            config,
            writer,
            input,
            fuzzer_size: None,
            symbols: FxHashMap::default(),
            n_learned: 0,
            listed: Vec::new(),
            seen,
        }
    }

    /// Whether an input is the text. The first that may be one is taken for it, unless the user named another.
    fn owns(&mut self, request: &InputRequest) -> bool {
        let is_bytes = request.scalars.iter().all(|scalar| scalar.n_bytes == 1);
        // A single byte that the program declares is a number, unless the user says that it is a text.
        let is_chosen = self.input.is_some() || request.scalars.len() > 1 || is_of_the_world(&request.name);
        if !is_bytes || !is_chosen || request.kind != InputKind::Declared {
            return false;
        }
        let Ok(mut seen) = self.seen.lock() else { return false };
        // What one worker takes for the text, all do.
        let first = || seen.input.clone().unwrap_or_else(|| request.name.to_string());
        let is_own = is_named(self.input.get_or_insert_with(first), &request.name);
        if is_own {
            seen.input = Some(request.name.to_string());
        }
        is_own
    }

    /// The input of a path that is its text; `None` where the program has not asked for it yet.
    fn record<'p>(&self, path: &'p Path) -> Option<&'p Arc<InputRecord>> {
        let name = self.input.as_deref()?;
        path.state.inputs.iter().find(|record| is_named(name, &record.name))
    }

    /// Where the path's text stands.
    fn room(&self, path: &Path, terms: &mut Terms) -> Option<Room> {
        match self.fuzzer_size {
            Some(most) => Some(Room::to_be(FUZZER_INPUT, most, terms)),
            None => self.record(path).map(|record| Room::of(record)),
        }
    }

    /// Gets to know the symbols of a text before the first of them is decided; whether there is a text.
    fn learn(&mut self, path: &Path, terms: &Terms) -> bool {
        if self.fuzzer_size.is_some() {
            return true;
        }
        let Some(record) = self.record(path) else { return false };
        // The same symbols on every path, and more of them where the input is larger.
        if self.n_learned < record.scalars.len() {
            self.n_learned = record.scalars.len();
            let room = Room::of(record);
            let bytes = room.bytes.iter().enumerate().map(|(idx, byte)| (symbol(terms, *byte), Piece::Byte(idx)));
            self.symbols.extend(bytes);
            if let End::Size(size) = room.end {
                self.symbols.insert(symbol(terms, size), Piece::Size);
            }
        }
        true
    }

    fn depends(&self, effect: &Effect, len: usize, terms: &Terms) -> On {
        let of = |term: TermId| {
            let piece = |symbol: &SymbolId| match self.symbols.get(symbol) {
                Some(Piece::Byte(idx)) if *idx >= len => On::Open,
                Some(Piece::Size) => On::Size,
                _ => On::Decided,
            };
            terms.symbols(term).iter().map(piece).max().unwrap_or(On::Decided)
        };
        match effect {
            Effect::Branch { cond } | Effect::Assume { cond } | Effect::Constrain { cond } => of(*cond),
            Effect::Check { holds, .. } => of(*holds),
            Effect::Switch { conds } => conds.iter().map(|(_, cond)| of(*cond)).max().unwrap_or(On::Decided),
            Effect::Address { addr, .. } => of(*addr),
            // Nothing depends any more on what the process leaves behind.
            Effect::Pick { why: PickWhy::Status, .. } => On::Decided,
            Effect::Pick { value, .. } | Effect::Unwritten { value, .. } => of(*value),
            // The size of a fuzzer's data is that of its text.
            Effect::Choose { .. } if self.config.is_fuzzer => On::Open,
            Effect::Choose { .. }
            | Effect::Input(_)
            | Effect::Call { .. }
            | Effect::AddressOrder { .. }
            | Effect::Beyond { .. }
            | Effect::Ended(_)
            | Effect::OutOfFuel
            | Effect::Arrived => On::Decided,
        }
    }

    /// What was not understood of the grammar, for the ledger.
    fn losses(&self) -> Option<String> {
        let mut losses = self.config.grammar.losses();
        let first = losses.next()?;
        let more = match losses.count() {
            0 => String::new(),
            n_more => format!(", and {n_more} more"),
        };
        let place = first.line.map_or(String::new(), |line| format!("{line}: "));
        Some(format!("texts are missing: {}:{place}{}{more}; `colt grammar` lists all", first.file, first.text))
    }

    /// Whether what is decided of the text decides about its size as well.
    fn is_settled(&self, path: &Path, effect: &Effect, means: &mut Means) -> bool {
        let Effect::Branch { cond } = effect else { return false };
        let negated = means.machine.terms.not(*cond);
        [*cond, negated].into_iter().any(|side| {
            let answer = means.stack.check(&mut means.machine.terms, &path.condition, &path.input, side);
            matches!(answer, Answer::Unsat)
        })
    }
}

fn is_of_the_world(input: &str) -> bool {
    input == "stdin" || input.starts_with("file:") || input.starts_with("argv[")
}

/// The user may leave out that a file is one.
fn is_named(name: &str, input: &str) -> bool {
    name == input || input.strip_prefix("file:") == Some(name)
}

impl Technique for Texts {
    fn name(&self) -> &'static str {
        NAME
    }

    fn seats(&mut self) -> Option<&mut dyn Seats> {
        Some(self)
    }

    fn endings(&mut self) -> Option<&mut dyn Endings> {
        Some(self)
    }

    fn for_workers(&self) -> Option<Maker> {
        let (config, seen) = (Arc::clone(&self.config), Arc::clone(&self.seen));
        Some(Arc::new(move || Box::new(Texts::new(Arc::clone(&config), Arc::clone(&seen)))))
    }

    fn report(&mut self) -> Report {
        let Ok(seen) = self.seen.lock() else { return Report::default() };
        let (n_strings, max) = (seen.strings.len(), self.config.max);
        let input = seen.input.as_deref().unwrap_or("");
        let summary = serde_json::json!({
            "input": input,
            "max": max,
            "errors": self.config.max_mistakes,
            "symbolic_strings": n_strings,
        });
        let text = match input {
            "" => "grammar: the program has no input that a text could stand in\n".to_string(),
            _ => format!("grammar: texts of up to {max} tokens in `{input}`, {n_strings} symbolic strings\n"),
        };
        let text = match self.config.grammar.notes.len() {
            0 => text,
            n_notes => format!(
                "{text}grammar: {n_notes} notes on what was not understood of the files; `colt grammar` lists them\n"
            ),
        };
        let can_fill = || self.config.grammar.scanner.padding(&self.config.grammar.tokens).is_some();
        let text = match seen.reads_at_once && can_fill() {
            false => text,
            true => format!(
                "{text}grammar: the program reads `{input}` at once, so whole texts were decided before it looked at them; \
                 --grammar-fill decides token by token\n"
            ),
        };
        Report { text, ..Report::summary(summary.to_string()) }
    }
}

impl Seats for Texts {
    fn input(&mut self, path: &Path, request: &InputRequest, _means: &mut Means) -> Option<InputForm> {
        let is_first = path.state.inputs.n_named(&request.name) == 0;
        let is_file = request.name.starts_with("file:");
        (is_first && self.owns(request) && is_file).then_some(InputForm::UpTo)
    }

    fn world_input(&mut self, request: &InputRequest) -> Option<InputForm> {
        (self.owns(request) && &*request.name == "stdin").then_some(InputForm::UpTo)
    }

    fn refine(&mut self, path: &Path, effect: &Effect, means: &mut Means) -> Option<Shapings> {
        let begun = Text::of(path);
        if begun.is_some_and(|text| text.ends == Ends::Here) {
            return None;
        }
        if let (Effect::Choose { max }, true) = (effect, self.config.is_fuzzer) {
            self.fuzzer_size = Some(*max);
        }
        if begun.is_none() && !self.learn(path, &means.machine.terms) {
            return None;
        }
        let mut text = begun.cloned().unwrap_or_default();
        let steps = path.state.steps;
        if text.decided_at.steps != steps {
            text.decided_at = DecidedAt { steps, n_tokens: 0 };
        }
        match self.depends(effect, text.len, &means.machine.terms) {
            On::Decided => return None,
            // How many bytes there are was settled before the first of them.
            On::Size if begun.is_some() && self.config.fill.is_some() => return None,
            On::Size if begun.is_some() && self.is_settled(path, effect, means) => return None,
            On::Size if text.decided_at.n_tokens >= AT_ONCE => {
                if let Ok(mut seen) = self.seen.lock() {
                    seen.reads_at_once = true;
                }
            }
            On::Size | On::Open => {}
        }
        let room = self.room(path, &mut means.machine.terms)?;
        let terms = &mut means.machine.terms;
        let first = if begun.is_none() { self.writer.use_all(&room, terms) } else { None };
        let Ways { ways, mut left_out } = first.unwrap_or_else(|| self.writer.ways(path, &text, &room, terms));
        if begun.is_none() {
            left_out.extend(self.losses());
            if ways.is_empty() && left_out.is_empty() {
                left_out.push(format!("there is no text of up to {} tokens (--grammar-max)", self.config.max));
            }
        }
        let (shaped, texts) = ways.into_iter().map(|way| (way.shaped, way.text)).unzip();
        self.listed = texts;
        Some(Shapings { by: NAME, ways: shaped, left_out })
    }

    /// Texts that end in the same two tokens are of a kind: so all that may follow each other have their turn, and long holes do
    /// not have more turns than short ones.
    fn kind(&self, path: &Path) -> u64 {
        Text::of(path).map_or(0, |text| self.writer.kind(text))
    }

    fn chosen(&mut self, path: &Path) -> Option<u64> {
        let is_next = self.config.is_fuzzer && path.state.inputs.n_named(FUZZER_INPUT) == 0;
        Text::of(path).filter(|text| is_next && text.ends == Ends::Here).map(|text| text.len as u64)
    }

    fn refined(&mut self, path: &mut Path, way: usize) {
        path.state.slots.set(SLOT, self.listed[way].clone());
    }
}

impl Endings for Texts {
    fn ended(&mut self, path: &Path, _ending: &Ending) {
        let Some(text) = Text::of(path) else { return };
        let string = (self.writer.beginnings.tokens(text.beginning), text.lengths());
        if let Ok(mut seen) = self.seen.lock() {
            seen.strings.insert(string);
        }
    }

    /// What the program did not look at becomes the rest of the smallest text.
    fn furnish(&mut self, path: &Path, inputs: &mut Vec<InputValue>) {
        let text = Text::of(path).cloned().unwrap_or_default();
        if text.ends == Ends::Here {
            return;
        }
        let Some(record) = self.record(path) else { return };
        let Some(input) = inputs.iter_mut().find(|input| input.name == record.name) else { return };
        let room = Room::of(record);
        let most = room.most();
        input.bytes.resize(text.len, 0);
        input.bytes.extend(self.writer.rest(&text, most - text.len));
        if let Some(blank) = self.writer.filling(&room) {
            input.bytes.resize(most, blank);
        }
        if record.size.is_none() {
            input.bytes.resize(record.n_bytes as usize, 0);
        }
    }
}

/// The input of `LLVMFuzzerTestOneInput`.
const FUZZER_INPUT: &str = "data";

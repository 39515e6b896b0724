//! `lengths`: long strings, by a prefix and a length that is a term.
//!
//! What overflows a buffer is how long an input is; what it says hardly matters. A thousand symbolic bytes are hopeless, because
//! every loop over them is a path for each length, and eight never overflow anything. Chapter 4 of the dissertation on Splat gives
//! a string a few symbolic bytes and a symbolic length, lets the library's string functions work on lengths instead of looping, and asks
//! at each access whether it can be outside.
//!
//! The paper keeps with each buffer three terms (its size, the length of the string at its start, the prefix) and says for each library
//! function how they change. Here memory itself has symbolic bounds (`vm::Layers`): an object is a pile of layers, each from one
//! term to another, and a copy of `n` bytes is one more layer, whatever `n` is. What a byte is, and where the first zero is, follows from the pile, exactly.
//! So nothing has to be said about each function: `strlen` is a search, `strcpy` a search and a copy, `sprintf` several of them. And strings may
//! lie anywhere: several in a buffer, ends written into the middle, pointers into them.
//!
//! A search gives one term, not a path for each place: "`i` if byte `i` of the prefix is the one, else the length". An allocation whose size is
//! a term is one object with that size. An access asks one question: can it be outside?
//!
//! **What the input is.** A string has `--lengths-prefix` bytes that are symbols, any but zero, and a length up to `--lengths-max`. Behind the prefix two bytes repeat
//! up to the length, and one byte may stand at any place among them; all of them are symbols too. The paper fills with constants. Symbols find what needs hundreds of
//! `/` or of `<>` in a row, or a `@` after a thousand letters. A buffer that the program marks has a prefix of any bytes, then no zero up to
//! some place, which may be the buffer's end, a zero, and any byte repeated.
//!
//! **What is tried first.** Some loops cannot be done at once, and their bugs need one short text repeated many times. So before anything is
//! explored, the program is run on such texts, made of the characters and words that it compares with, as long as its buffers and longer. These runs are
//! concrete, take little, and nothing is told of them but what goes wrong: that is a finding, with the shortest such text.
//! Then texts are grown from words and signs of the program, kept where they make it do something new, and stretched: at one place of such a text a byte
//! repeats as often as a length says that is a term, and nothing else is open. What does not fit by one byte behind a long keyword is found so, where
//! exploring would have to find the keyword among all other texts first.
//!
//! **Why nothing is claimed falsely.** Every text made so is an input that plain exploration has as well, so whatever is found is real, and
//! is run natively like any finding. The other way round: as long as no condition speaks of the bytes behind the prefix, it is true of all
//! texts with these lengths and prefixes alike, since all that was used of them is that they are not zero. So the paths are all there are.
//! Whenever the program reads such a byte, or a search looks for something else than the end, the ledger says so, and the run is not complete.
//! With a prefix as long as the maximum nothing is behind it, and the paths end as plain ones do.
//!
//! **What it costs.** A string costs its prefix, not its length. A search costs the layers it goes through; one that would go through
//! hundreds is left to the loop of the library.

mod company;
mod growth;
mod texts;
mod trials;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use explore::{
    Discovery, InputForm, InputKind, InputRequest, Maker, Means, MoreTrials, Path, Report, Seats, Shapings, Technique,
    Trial, Tried,
};
use vm::{Effect, Sizes, StringKind, TextForm, TextKind};

use self::texts::Texts;
use self::trials::Trials;
use crate::{Entry, Flag, Flags, Making, Named, Part, Resume};

pub const NAME: &str = "lengths";

#[derive(Clone, Copy, Debug)]
struct Config {
    prefix: u64,
    most: u64,
}

/// What all workers have seen.
#[derive(Default)]
struct Seen {
    inputs: BTreeSet<String>,
    /// File, line, and the function whose loop was not run.
    summarised: BTreeSet<(String, u32, String)>,
}

pub struct Lengths {
    config: Config,
    seen: Arc<Mutex<Seen>>,
    /// How many summaries of the machine are known.
    n_known: usize,
    /// What is tried before anything is explored.
    texts: Arc<Texts>,
    trials: Option<Trials>,
    /// What that showed.
    found: Vec<Discovery>,
}

impl Lengths {
    fn new(config: Config, seen: Arc<Mutex<Seen>>, texts: Arc<Texts>) -> Lengths {
        Lengths { config, seen, n_known: 0, trials: Some(Trials::new(&texts)), texts, found: Vec::new() }
    }

    /// The form of an input that is a text.
    fn form(&self, request: &InputRequest) -> Option<TextForm> {
        let Config { prefix, most } = self.config;
        let text = |most: u64, kind: TextKind| usual_form(prefix, most, kind);
        if request.kind != InputKind::Declared {
            return None;
        }
        match request.string {
            Some(StringKind::Own) => return Some(text(most, TextKind::String)),
            Some(StringKind::Within) => return Some(text(request.bytes, TextKind::String)),
            Some(StringKind::Data) => return Some(text(request.bytes, TextKind::Stream)),
            None => {}
        }
        if request.name.starts_with("file:") {
            return Some(text(request.bytes, TextKind::Stream));
        }
        let is_bytes = request.bytes > 1 && request.scalars.iter().all(|scalar| scalar.n_bytes == 1 && !scalar.is_bool);
        // Of what the prefix covers all bytes are symbols anyway.
        (is_bytes && request.bytes > prefix).then(|| text(request.bytes, TextKind::Buffer))
    }

    fn note(&self, request: &InputRequest) {
        if let Ok(mut seen) = self.seen.lock() {
            seen.inputs.insert(request.name.to_string());
        }
    }
}

impl Technique for Lengths {
    fn name(&self) -> &'static str {
        NAME
    }

    fn seats(&mut self) -> Option<&mut dyn Seats> {
        Some(self)
    }

    fn for_workers(&self) -> Option<Maker> {
        let (config, seen, texts) = (self.config, Arc::clone(&self.seen), Arc::clone(&self.texts));
        Some(Arc::new(move || Box::new(Lengths::new(config, Arc::clone(&seen), Arc::clone(&texts)))))
    }

    fn discoveries(&mut self) -> Vec<Discovery> {
        std::mem::take(&mut self.found)
    }

    fn report(&mut self) -> Report {
        let Ok(seen) = self.seen.lock() else { return Report::default() };
        let summarised: Vec<_> = seen
            .summarised
            .iter()
            .map(|(file, line, what)| serde_json::json!({"file": file, "line": line, "what": what}))
            .collect();
        let summary = serde_json::json!({
            "inputs": seen.inputs,
            "prefix": self.config.prefix,
            "max": self.config.most,
            "summarised": summarised,
        });
        let text = match seen.inputs.len() {
            0 => "lengths: the program has no input that is a string\n".to_string(),
            n_inputs => {
                let n_places = seen.summarised.len();
                format!("lengths: {n_inputs} texts with symbolic lengths, {n_places} places summarised\n")
            }
        };
        Report { text, ..Report::summary(summary.to_string()) }
    }
}

impl Seats for Lengths {
    fn sizes(&self) -> Sizes {
        Sizes::Terms
    }

    fn input(&mut self, _path: &Path, request: &InputRequest, _means: &mut Means) -> Option<InputForm> {
        let form = self.form(request)?;
        if let Some(fixed) = self.trials.as_mut().and_then(|trials| trials.form(request, &form)) {
            return Some(fixed);
        }
        self.note(request);
        Some(InputForm::Text(form))
    }

    fn world_input(&mut self, request: &InputRequest) -> Option<InputForm> {
        let kind = if &*request.name == "stdin" { TextKind::Stream } else { TextKind::String };
        let form = usual_form(self.config.prefix, request.bytes, kind);
        if let Some(fixed) = self.trials.as_mut().and_then(|trials| trials.form(request, &form)) {
            return Some(fixed);
        }
        self.note(request);
        Some(InputForm::Text(form))
    }

    fn trial(&mut self, last: Option<Tried>, more: MoreTrials) -> Option<Trial> {
        let trial = self.trials.as_mut()?.next(last, more);
        if trial.is_none() {
            self.found = self.trials.take().map(|mut trials| trials.discoveries()).unwrap_or_default();
        }
        trial
    }

    /// Nothing is left open; only what the machine did without looping is taken note of.
    fn refine(&mut self, _path: &Path, _effect: &Effect, means: &mut Means) -> Option<Shapings> {
        let machine = &means.machine;
        let summaries = &machine.spans.summaries;
        if summaries.len() > self.n_known {
            self.n_known = summaries.len();
            if let Ok(mut seen) = self.seen.lock() {
                for (site, what) in summaries {
                    let place = machine.image.place_at(site.func, site.span);
                    seen.summarised.insert((place.file.to_string(), place.line, what.to_string()));
                }
            }
        }
        None
    }
}

pub const ENTRY: Entry =
    Entry { name: NAME, flags: &[PREFIX, MAX], check, make, resume: Resume::FromPending, company: company::COMPANY };

const PREFIX: Flag =
    Flag::number("lengths-prefix", "K", 8, "`lengths`: bytes at the beginning of a text that are symbols of their own");
const MAX: Flag = Flag::number("lengths-max", "N", 4096, "`lengths`: bytes of the longest string");

/// Any prefix, and behind it what repeats and one byte of its own.
fn usual_form(prefix: u64, most: u64, kind: TextKind) -> TextForm {
    TextForm { prefix, most, n_repeated: 2, n_marks: 1, kind, pattern: None }
}

/// Longer strings would not fit into what a program can allocate.
const LONGEST: u64 = 100_000_000;
const LONGEST_PREFIX: u64 = 65_536;

/// The longest string.
pub fn longest(flags: &Flags) -> u64 {
    flags.number(&MAX)
}

/// Whether a line-up makes the string parameters of an entry.
pub fn makes_strings(line_up: &[String]) -> bool {
    line_up.iter().any(|name| name == NAME)
}

fn check(flags: &Flags, named: Named) -> Result<(), String> {
    if let (Named::No, Some(flag)) = (named, ENTRY.flags.iter().find(|flag| flags.is_given(flag))) {
        return Err(format!("--{} has no effect without --with lengths", flag.name));
    }
    let (prefix, most) = (flags.number(&PREFIX), flags.number(&MAX));
    if most == 0 {
        return Err("--lengths-max 0 leaves only the empty string; the smallest is 1".to_string());
    }
    if most > LONGEST {
        return Err(format!("--lengths-max: at most {LONGEST} bytes"));
    }
    if prefix > LONGEST_PREFIX {
        return Err(format!("--lengths-prefix: at most {LONGEST_PREFIX} bytes"));
    }
    if flags.is_given(&PREFIX) && prefix > most {
        return Err(format!(
            "--lengths-prefix {prefix} is longer than the longest string, --lengths-max {most}; make one of them fit the other"
        ));
    }
    Ok(())
}

fn make(making: &Making) -> Result<Part, String> {
    let Making { flags, subject, .. } = making;
    if subject.module.target.pointer_bytes != 8 {
        return Err("--with lengths is for 64-bit programs".to_string());
    }
    let most = flags.number(&MAX);
    let config = Config { prefix: flags.number(&PREFIX).min(most), most };
    let texts = Arc::new(texts::texts(subject.module, most));
    Ok(Part::passive(Lengths::new(config, Arc::default(), texts)))
}

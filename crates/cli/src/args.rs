//! Every flag but those that techniques declare, its unit and its default; `--help` is made from it.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::technique_args::TechniqueArgs;

#[derive(Parser, Debug)]
#[command(
    name = "colt",
    version,
    about = "Finds inputs that together show everything a C program can do, its bugs among them",
    after_help = "Exit status: 0 no finding and complete; 10 at least one finding; 5 no finding, but incomplete; \
                  2 wrong usage; 3 the program could not be compiled or loaded; 6 an internal fault. \
                  `colt replay`: 0 every test ends as expected, 1 some do not."
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Explore a program; write tests, findings and a summary
    #[command(args_override_self = true)]
    Run(Box<RunArgs>),
    /// Run generated tests natively and compare their endings
    Replay(ReplayArgs),
    /// Write the tests of a campaign in another form
    Export(ExportArgs),
    /// Write a self-contained HTML report (coverage, findings, tree)
    Report(ReportArgs),
    /// Print one test readably
    Show(ShowArgs),
    /// Say why a line was not reached, and what to do about it
    Why(WhyArgs),
    /// Go on with a stopped or cut campaign
    Resume(ResumeArgs),
    /// Check the certificates of hangs with z3 and cvc5
    Certify(CertifyArgs),
    /// Say what was understood of a grammar, and how many symbolic strings of each size it has
    Grammar(GrammarArgs),
    /// Compile as the C compiler does and keep the bitcode in the objects: CC="colt cc" in any build
    #[command(disable_help_flag = true)]
    Cc(CcArgs),
}

#[derive(Args, Debug)]
pub struct GrammarArgs {
    /// yacc (.y) with lex (.l), ANTLR (.g4), or the plain form of docs/grammars.md
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Patterns of tokens that the files do not tell, in the plain form
    #[arg(long, value_name = "FILE")]
    pub grammar_tokens: Option<PathBuf>,

    /// The largest size that is counted, in tokens: at most 1000
    #[arg(long, value_name = "N", default_value_t = 12)]
    pub grammar_max: usize,
}

#[derive(Args, Debug)]
pub struct CcArgs {
    /// The compiler's command line. The compiler is clang, or what COLT_CC_REAL names
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "WORD")]
    pub words: Vec<std::ffi::OsString>,
}

#[derive(Args, Debug, Clone)]
pub struct RunArgs {
    /// C source (several are linked), LLVM bitcode (.bc) or text (.ll), a program, library or object built with
    /// CC="colt cc", or compile_commands.json
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Function to start from; its parameters become inputs [default: main, else LLVMFuzzerTestOneInput]
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,

    /// Techniques, separated by commas
    #[arg(long = "with", value_name = "A,B,...", value_delimiter = ',')]
    pub line_up: Vec<String>,

    /// What techniques declare themselves; see `technique_args`
    #[arg(skip)]
    pub techniques: TechniqueArgs,

    /// Which pending state to go on with
    #[arg(long, value_name = "ORDER", value_enum, default_value_t = Order::Coverage)]
    pub search: Order,

    /// MIN to MAX symbolic command-line arguments of up to LEN bytes each; given several times, they follow each other
    #[arg(long, num_args = 3, value_names = ["MIN", "MAX", "LEN"], action = clap::ArgAction::Append)]
    pub sym_args: Vec<u32>,

    /// Standard input: N symbolic bytes, then end of file
    #[arg(long, value_name = "N")]
    pub sym_stdin: Option<u32>,

    /// A file NAME of N symbolic bytes in the program's working folder (with --libc; may be given several times)
    #[arg(long, num_args = 2, value_names = ["NAME", "N"], action = clap::ArgAction::Append)]
    pub sym_file: Vec<String>,

    /// Numbers of rand, random and their relatives are inputs, instead of one fixed sequence
    #[arg(long)]
    pub rand_input: bool,

    /// Inputs to follow first and to explore around: files for standard input, for the one symbolic file or the fuzzer's
    /// data, .ktest files, tests of Colt (.json)
    #[arg(long, value_name = "DIR")]
    pub seeds: Option<PathBuf>,

    /// Link the C library as bitcode: whole programs, over a virtual world of files (made once by scripts/libc)
    #[arg(long)]
    pub libc: bool,

    /// Up to N system calls fail on a path, or read or write less than asked; each way is explored (with --libc)
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub fail_calls: u32,

    /// A folder of the real file system that the program may read (with --libc; may be given several times)
    #[arg(long, value_name = "DIR")]
    pub allow_read: Vec<PathBuf>,

    /// A variable of the program's environment, which is empty otherwise (with --libc; may be given several times)
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,

    /// What memory that nobody wrote holds
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = Uninit::Any)]
    pub uninit: Uninit,

    /// Checks on top of the default ones (memory, assert, div, uninit), separated by commas; `none` first switches those off,
    /// `all` switches everything on
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_enum)]
    pub check: Vec<Check>,

    #[command(flatten)]
    pub budgets: BudgetArgs,

    /// Threads that explore [default: number of cores; with techniques one]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub workers: Option<u32>,

    /// Seed of every random choice
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// Output folder, made new; an existing one is refused [default: colt-out/NAME-K]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Which paths get a test: every one (all in the database, those that reach something new or show a finding as files
    /// too), only the latter, or every one as a file
    #[arg(long, value_name = "WHICH", value_enum, default_value_t = Tests::All)]
    pub tests: Tests,

    /// Flags for clang, as one word: --cflags "-DN=4 -Iinclude"
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true, default_value = "")]
    pub cflags: String,

    /// Largest input of LLVMFuzzerTestOneInput, in bytes [default: 8; --lengths-max with lengths]
    #[arg(long, value_name = "N")]
    pub fuzzer_size: Option<u32>,

    /// Solver asked last
    #[arg(long, value_name = "NAME", value_enum, default_value_t = SolverName::Z3)]
    pub solver: SolverName,

    /// Layers of the solver stack to leave out, separated by commas (for comparison)
    #[arg(long, value_name = "LAYER,...", value_delimiter = ',')]
    pub solver_without: Vec<String>,

    /// Ask the solver again about every answer of the stack, and stop at a disagreement (slow)
    #[arg(long)]
    pub solver_check: bool,

    /// Write every question to the solver and its answer to FILE, to be asked again elsewhere
    #[arg(long, value_name = "FILE")]
    pub solver_record: Option<PathBuf>,

    /// With --solver-record, write only the questions that the layers before the gates leave
    #[arg(long, requires = "solver_record")]
    pub solver_record_hard: bool,

    /// Translate hot concrete code to native code
    #[arg(long, value_name = "BOOL", default_value_t = true, action = clap::ArgAction::Set)]
    pub compile: bool,

    /// Keep what the first path prints, in DIR/stdout.txt
    #[arg(long)]
    pub show_output: bool,

    /// Neither confirm findings natively nor measure coverage
    #[arg(long)]
    pub no_replay: bool,

    #[command(flatten)]
    pub output: OutputArgs,

    /// Arguments of the program, as they are; symbolic ones follow them
    #[arg(last = true, value_name = "ARG")]
    pub program_args: Vec<String>,
}

impl RunArgs {
    /// The largest input of a fuzzer's entry.
    pub fn fuzzer_bytes(&self, line_up: &[String]) -> u32 {
        let usual = match techniques::lengths::makes_strings(line_up) {
            true => u32::try_from(techniques::lengths::longest(&self.techniques.flags)).unwrap_or(u32::MAX),
            false => USUAL_FUZZER_BYTES,
        };
        self.fuzzer_size.unwrap_or(usual)
    }
}

const USUAL_FUZZER_BYTES: u32 = 8;

/// What `--tests` can say.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tests {
    /// Every path, in the database; files for those that show something new
    All,
    /// Only paths that reach something new, and the first few of each finding
    Covering,
    /// Every path, each as a file as well
    Files,
}

/// Limits; each path a limit ends is counted as cut.
#[derive(Args, Debug, Clone, Default)]
pub struct BudgetArgs {
    /// Time for the whole command: seconds, or with a unit as in 90s, 10m, 2h
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub max_time: Option<Duration>,

    /// Memory above which pending states are put away: megabytes, or with a unit as in 800M, 4G [default: three
    /// quarters of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = parse_megabytes)]
    pub max_memory: Option<u64>,

    /// Paths explored to their end
    #[arg(long, value_name = "N")]
    pub max_paths: Option<u64>,

    /// Decisions on one path
    #[arg(long, value_name = "N")]
    pub max_depth: Option<u64>,

    /// Instructions on one path
    #[arg(long, value_name = "N")]
    pub max_steps: Option<u64>,

    /// Time for one question to the solver: seconds, or with a unit as in 500ms [default: 10s, or a thousandth of --max-time,
    /// but at least 100ms]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub solver_timeout: Option<Duration>,
}

#[derive(Args, Debug, Clone, Default)]
pub struct OutputArgs {
    /// Print the summary as JSON on standard output; text for people goes to standard error
    #[arg(long)]
    pub json: bool,

    /// Print findings and errors only
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Args, Debug)]
pub struct ReplayArgs {
    /// Output folder of a campaign, or one test file in it
    #[arg(value_name = "DIR|TEST")]
    pub path: PathBuf,

    /// Print disagreements and the closing line only
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Args, Debug)]
pub struct ExportArgs {
    /// Output folder of a campaign
    pub dir: PathBuf,

    /// Form of the export
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub to: Format,

    /// Where to write; made if need be [default: DIR/export/FORMAT]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Every test as a file of its own
    Json,
    /// A C program that runs every test and needs nothing of Colt
    C,
    /// GoogleTest cases over that C program
    Gtest,
    /// KLEE's binary tests
    Ktest,
    /// A fuzzer's corpus: raw bytes, one file a test
    Corpus,
    /// Test-Comp's XML
    Testcomp,
    /// Coverage as an lcov tracefile
    Lcov,
    /// Findings as SARIF 2.1.0
    Sarif,
}

#[derive(Args, Debug)]
pub struct ReportArgs {
    /// Output folder of a campaign
    pub dir: PathBuf,

    /// The file to write [default: DIR/report.html]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub struct ShowArgs {
    /// Output folder of a campaign
    pub dir: PathBuf,

    /// The test's number
    #[arg(value_name = "N")]
    pub number: u64,

    /// Print what its file contains, or would contain
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct CertifyArgs {
    /// Output folder of a campaign
    pub dir: PathBuf,
}

#[derive(Args, Debug)]
pub struct WhyArgs {
    /// Output folder of a campaign
    pub dir: PathBuf,

    /// The line in question
    #[arg(value_name = "FILE:LINE")]
    pub place: String,
}

#[derive(Args, Debug)]
pub struct ResumeArgs {
    /// Output folder of the campaign to go on with
    pub dir: PathBuf,

    /// Inputs to follow first among what is pending, in place of those of the first run
    #[arg(long, value_name = "DIR")]
    pub seeds: Option<PathBuf>,

    /// Search for an input that comes to this line; end when there is one
    #[arg(long, value_name = "FILE:LINE")]
    pub towards: Option<String>,

    /// New limits; those not given here are those of the first run, except --max-time and --max-paths, which are off
    #[command(flatten)]
    pub budgets: BudgetArgs,

    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Order {
    /// Towards code not reached yet
    Coverage,
    /// Newest first
    Dfs,
    /// Oldest first
    Bfs,
    /// By chance, from --seed
    Random,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SolverName {
    Z3,
    Cvc5,
    /// None: what the layers before it cannot answer stays unanswered
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Uninit {
    /// It may hold anything; what depends on it is a finding
    Any,
    /// It is zero; the ledger names the places that depend on it
    Zero,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Check {
    /// Accesses and frees of memory (on by default)
    Memory,
    /// Assertions, abort (on by default)
    Assert,
    /// Division by zero and INT_MIN / -1 (on by default)
    Div,
    /// Signed integer overflow
    Overflow,
    /// Shifts by a negative or too large number of bits, or of signed numbers that lose some
    Shift,
    /// Use of memory that nobody wrote (on by default)
    Uninit,
    /// Memory that nobody can free any more when the program ends
    Leak,
    /// Memory not freed when the program ends, reachable or not
    LeakAll,
    /// Pointers that leave their object by more than one, or wrap around
    Pointer,
    /// memcpy, strcpy and their relatives between ranges that overlap
    Overlap,
    /// Accesses at addresses that are not a multiple of what their type needs
    Align,
    /// A `_Bool` that is neither 0 nor 1
    Bool,
    /// Number of leading or trailing zeros of zero (__builtin_clz, __builtin_ctz), arrays of no length
    Builtin,
    /// Floats converted to a type that cannot hold them, and divided by zero
    Float,
    /// Null passed to or returned from what is declared never to be null
    Nonnull,
    /// Implicit conversions that change the value; not part of `all`, because C allows them
    Conversion,
    /// Indices that leave their array and stay inside of the structure or table it is a part of
    Bounds,
    /// Nothing but what follows in the list
    None,
    /// Everything
    All,
}

fn parse_duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match &text[digits.len()..] {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        unit => return Err(format!("`{unit}` is not a unit of time; use ms, s, m or h")),
    };
    let value: f64 = digits.parse().map_err(|_| format!("`{digits}` is not a number"))?;
    Duration::try_from_secs_f64(value * factor).map_err(|_| format!("`{text}` is not a length of time"))
}

fn parse_megabytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match &text[digits.len()..] {
        "" | "M" | "MB" => 1,
        "G" | "GB" => 1024,
        unit => return Err(format!("`{unit}` is not a unit of memory; use M or G")),
    };
    let value: u64 = digits.parse().map_err(|_| format!("`{digits}` is not a whole number"))?;
    value.checked_mul(factor).ok_or_else(|| format!("`{text}` is too large"))
}

/// Splits `--cflags` the way a shell would: blanks separate, quotes and backslashes keep together.
pub fn split_words(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(chars.next()),
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    match quote {
        Some(open) => Err(format!("the quote {open} in `{text}` is not closed")),
        None => {
            words.extend(word);
            Ok(words)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::technique_args::{command, parse};

    #[test]
    fn the_flags_are_consistent() {
        command(techniques::ALL).debug_assert();
    }

    #[test]
    fn units() {
        assert_eq!(parse_duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        assert!(parse_duration("-1").is_err());
        assert!(parse_duration("3 parsecs").is_err());
        assert_eq!(parse_megabytes("2G"), Ok(2048));
        assert!(parse_megabytes("2T").is_err());
    }

    #[test]
    fn words() {
        assert_eq!(split_words(r#"-DA="x y" -I'a b' c\ d "" "#).expect("closed"), ["-DA=x y", "-Ia b", "c d", ""]);
        assert!(split_words("-DA='x").is_err());
    }

    #[test]
    fn techniques_find_their_flags() {
        let words = ["colt", "run", "a.c", "--lazy-skip", "f,g", "--rwset-effort", "7", "--partition-check"];
        let cli = parse(techniques::ALL, words).expect("parses");
        let Command::Run(run) = cli.command else { panic!("not run") };
        let flags = techniques::ALL.iter().flat_map(|entry| entry.flags);
        let given: Vec<(&str, Vec<String>)> = flags
            .filter(|flag| run.techniques.flags.is_given(flag))
            .map(|flag| (flag.name, run.techniques.flags.list(flag).to_vec()))
            .collect();
        let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        let expected =
            [("lazy-skip", words(&["f", "g"])), ("partition-check", words(&[])), ("rwset-effort", words(&["7"]))];
        assert_eq!(given, expected);
        assert!(parse(techniques::ALL, ["colt", "run", "a.c", "--lazy-faults", "none"]).is_err());
        assert!(parse(techniques::ALL, ["colt", "run", "a.c", "--rwset-max-entries", "many"]).is_err());
    }

    #[test]
    fn a_whole_command_line() {
        let cli = Cli::try_parse_from([
            "colt",
            "run",
            "a.c",
            "b.c",
            "--sym-args",
            "0",
            "2",
            "3",
            "--sym-args",
            "1",
            "1",
            "8",
            "--check",
            "overflow,leak",
            "--cflags",
            "-m32",
            "--max-time",
            "2m",
        ])
        .expect("parses");
        let Command::Run(run) = cli.command else { panic!("not run") };
        assert_eq!(run.files.len(), 2);
        assert_eq!(run.sym_args, [0, 2, 3, 1, 1, 8]);
        assert_eq!(run.check, [Check::Overflow, Check::Leak]);
        assert_eq!(run.cflags, "-m32");
    }
}

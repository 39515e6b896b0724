//! What a fixture announces about itself; the grammar is described in `fixtures/README.md`.

use std::path::{Path, PathBuf};

use crate::predicate::Predicate;

/// Techniques active together; empty is plain exploration.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineUp(Vec<String>);

impl LineUp {
    pub fn plain() -> LineUp {
        LineUp(Vec::new())
    }

    pub fn techniques(&self) -> &[String] {
        &self.0
    }

    pub fn name(&self) -> String {
        if self.0.is_empty() { "plain".to_string() } else { self.0.join("+") }
    }

    /// `plain`, or techniques joined by `+`.
    pub fn parse(text: &str) -> LineUp {
        match text {
            "plain" => LineUp::plain(),
            _ => LineUp(text.split('+').map(|technique| technique.trim().to_string()).collect()),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Complete,
    Incomplete,
}

impl Verdict {
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Complete => "complete",
            Verdict::Incomplete => "incomplete",
        }
    }
}

/// What the engine is given: the source itself, or what clang makes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Source,
    Bitcode,
    Assembly,
}

/// A kind of ending and, where given, exactly how many paths have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndingCount {
    pub name: String,
    pub count: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sides {
    Both,
    True,
    False,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    Reached,
    Unreached,
    Branches(Sides),
    Bug { kind: String, holds: Option<Predicate> },
}

/// One claim about one line of the fixture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineClaim {
    pub line: u64,
    pub claim: Claim,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixture {
    pub path: PathBuf,
    pub line_ups: Vec<LineUp>,
    pub entry: Option<String>,
    pub flags: Vec<String>,
    pub form: Form,
    /// Further files given to the engine, relative to the fixture's folder.
    pub also: Vec<String>,
    pub verdict: Verdict,
    pub n_paths: Option<u64>,
    pub n_tests: Option<u64>,
    pub statuses: Vec<i64>,
    pub endings: Vec<EndingCount>,
    pub ledger: Vec<String>,
    pub claims: Vec<LineClaim>,
}

/// The spellings of `interface.md` and the guide; an annotation with another one would never match.
pub const BUG_KINDS: &[&str] = &[
    "out-of-bounds-read",
    "out-of-bounds-write",
    "use-after-free",
    "double-free",
    "invalid-free",
    "null-dereference",
    "invalid-pointer",
    "division-by-zero",
    "integer-overflow",
    "invalid-shift",
    "uninitialised-read",
    "memory-leak",
    "assertion-failure",
    "abort",
    "unreachable-reached",
    "stack-overflow",
    "non-termination",
    "misaligned-access",
    "pointer-overflow",
    "invalid-value",
    "invalid-argument",
    "invalid-conversion",
    "lossy-conversion",
    "overlapping-copy",
];

pub const ENDINGS: &[&str] = &["returned", "exited", "bug", "assumed", "pruned", "cut", "unsupported"];

impl Fixture {
    pub fn read(path: &Path) -> Result<Fixture, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Fixture::parse(path, &text)
    }

    pub fn parse(path: &Path, text: &str) -> Result<Fixture, String> {
        let mut fixture = Fixture {
            path: path.to_path_buf(),
            line_ups: vec![LineUp::plain()],
            entry: None,
            flags: Vec::new(),
            form: Form::Source,
            also: Vec::new(),
            verdict: Verdict::Complete,
            n_paths: None,
            n_tests: None,
            statuses: Vec::new(),
            endings: Vec::new(),
            ledger: Vec::new(),
            claims: Vec::new(),
        };
        if !text.starts_with("//") || text.starts_with("//@") {
            return Err(format!("{}: the first line must say in a comment what is shown", path.display()));
        }
        for (line, source) in (1..).zip(text.lines()) {
            fixture.read_line(line, source).map_err(|why| format!("{}:{line}: {why}", path.display()))?;
        }
        if fixture.announces_nothing() {
            return Err(format!("{}: the fixture announces nothing", path.display()));
        }
        Ok(fixture)
    }

    /// The verdict alone does not count: it is checked everywhere and says nothing about this behaviour.
    fn announces_nothing(&self) -> bool {
        self.claims.is_empty()
            && self.n_paths.is_none()
            && self.n_tests.is_none()
            && self.statuses.is_empty()
            && self.endings.is_empty()
            && self.ledger.is_empty()
    }

    fn read_line(&mut self, line: u64, source: &str) -> Result<(), String> {
        if let Some(setting) = source.trim_start().strip_prefix("//@") {
            return self.read_setting(setting.trim());
        }
        let Some((_, claims)) = source.split_once("//~") else { return Ok(()) };
        for text in claims.split(" ; ") {
            let claim = parse_claim(text.trim())?;
            self.claims.push(LineClaim { line, claim });
        }
        Ok(())
    }

    fn read_setting(&mut self, setting: &str) -> Result<(), String> {
        let (key, value) = setting.split_once(':').ok_or("`key: value` expected after `//@`")?;
        let value = value.trim();
        if value.is_empty() {
            return Err(format!("`{key}` needs a value"));
        }
        match key.trim() {
            "line-ups" => self.line_ups = list(value).iter().map(|name| LineUp::parse(name)).collect(),
            "entry" => self.entry = Some(value.to_string()),
            "flags" => self.flags.extend(words(value)?),
            "also" => self.also.extend(list(value)),
            "form" => self.form = parse_form(value)?,
            "verdict" => self.verdict = parse_verdict(value)?,
            "paths" => self.n_paths = Some(count(value)?),
            "tests" => self.n_tests = Some(count(value)?),
            "status" => {
                let status: i64 = value.parse().map_err(|_| format!("`{value}` is no exit status"))?;
                self.statuses.push(status);
            }
            "endings" => {
                for item in list(value) {
                    self.endings.push(parse_ending(&item)?);
                }
            }
            "ledger" => self.ledger.extend(list(value)),
            other => return Err(format!("unknown setting `{other}`")),
        }
        Ok(())
    }
}

fn list(value: &str) -> Vec<String> {
    value.split(',').map(|item| item.trim().to_string()).filter(|item| !item.is_empty()).collect()
}

fn count(value: &str) -> Result<u64, String> {
    value.parse().map_err(|_| format!("`{value}` is no count"))
}

/// Splits at blanks; double quotes keep blanks inside one word.
fn words(value: &str) -> Result<Vec<String>, String> {
    let pieces: Vec<&str> = value.split('"').collect();
    if pieces.len().is_multiple_of(2) {
        return Err("unclosed quote".to_string());
    }
    let mut words = Vec::new();
    for (nth, piece) in pieces.iter().enumerate() {
        if nth % 2 == 1 {
            words.push((*piece).to_string());
        } else {
            words.extend(piece.split_whitespace().map(str::to_string));
        }
    }
    Ok(words)
}

fn parse_form(value: &str) -> Result<Form, String> {
    match value {
        "c" => Ok(Form::Source),
        "bc" => Ok(Form::Bitcode),
        "ll" => Ok(Form::Assembly),
        other => Err(format!("`{other}` is no form: c, bc or ll")),
    }
}

fn parse_verdict(value: &str) -> Result<Verdict, String> {
    match value {
        "complete" => Ok(Verdict::Complete),
        "incomplete" => Ok(Verdict::Incomplete),
        other => Err(format!("`{other}` is no verdict: complete or incomplete")),
    }
}

fn parse_ending(item: &str) -> Result<EndingCount, String> {
    let (name, number) = item.split_once(' ').map_or((item, None), |(name, number)| (name, Some(number)));
    if !ENDINGS.contains(&name) {
        return Err(format!("`{name}` is no ending"));
    }
    let count = number.map(|number| count(number.trim())).transpose()?;
    Ok(EndingCount { name: name.to_string(), count })
}

fn parse_claim(text: &str) -> Result<Claim, String> {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    let claim = match word {
        "REACHED" => Claim::Reached,
        "UNREACHED" => Claim::Unreached,
        "BOTH" => Claim::Branches(Sides::Both),
        "TRUE" => Claim::Branches(Sides::True),
        "FALSE" => Claim::Branches(Sides::False),
        "BUG" => return parse_bug(rest.trim()),
        other => return Err(format!("unknown claim `{other}`")),
    };
    if rest.trim().is_empty() { Ok(claim) } else { Err(format!("unexpected `{}` after `{word}`", rest.trim())) }
}

fn parse_bug(text: &str) -> Result<Claim, String> {
    let (kind, rest) = text.split_once(' ').unwrap_or((text, ""));
    if !BUG_KINDS.contains(&kind) {
        return Err(format!("`{kind}` is no kind of finding"));
    }
    let holds = match rest.trim() {
        "" => None,
        rest => {
            let predicate = rest.strip_prefix("where ").ok_or_else(|| format!("`where` expected, not `{rest}`"))?;
            Some(Predicate::parse(predicate)?)
        }
    };
    Ok(Claim::Bug { kind: kind.to_string(), holds })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Fixture, String> {
        Fixture::parse(Path::new("f.c"), text)
    }

    #[test]
    fn settings_and_claims_are_read() {
        let fixture = parse(
            "// Shows something.\n\
             //@ line-ups: plain, rwset, partition+rwset\n\
             //@ entry: scale\n\
             //@ flags: --check overflow --cflags \"-m32 -DX\"\n\
             //@ paths: 7\n\
             //@ endings: assumed 2, returned\n\
             //@ status: 3\n\
             //@ ledger: concretised-float\n\
             //@ verdict: incomplete\n\
             if (a) //~ BOTH\n\
             x = 1 / a; //~ BUG division-by-zero where a == 0 ; REACHED\n",
        )
        .expect("parses");
        assert_eq!(
            fixture.line_ups.iter().map(LineUp::name).collect::<Vec<_>>(),
            ["plain", "rwset", "partition+rwset"]
        );
        assert_eq!(fixture.entry.as_deref(), Some("scale"));
        assert_eq!(fixture.flags, ["--check", "overflow", "--cflags", "-m32 -DX"]);
        assert_eq!(fixture.n_paths, Some(7));
        assert_eq!(fixture.endings[0], EndingCount { name: "assumed".into(), count: Some(2) });
        assert_eq!(fixture.endings[1], EndingCount { name: "returned".into(), count: None });
        assert_eq!(fixture.verdict, Verdict::Incomplete);
        let lines: Vec<u64> = fixture.claims.iter().map(|claim| claim.line).collect();
        assert_eq!(lines, [10, 11, 11]);
        assert_eq!(fixture.claims[0].claim, Claim::Branches(Sides::Both));
        assert!(matches!(&fixture.claims[1].claim, Claim::Bug { kind, holds: Some(_) } if kind == "division-by-zero"));
        assert_eq!(fixture.claims[2].claim, Claim::Reached);
    }

    #[test]
    fn mistakes_are_refused_with_their_line() {
        for (text, word) in [
            ("int x;\n", "first line"),
            ("//@ paths: 3\n", "first line"),
            ("// Nothing.\nint x;\n", "announces nothing"),
            ("// Only a verdict.\n//@ verdict: complete\n", "announces nothing"),
            ("// x\n//@ nonsense: 3\n", "f.c:2: unknown setting"),
            ("// x\n//@ paths: many\n", "no count"),
            ("// x\n//@ paths:\n", "needs a value"),
            ("// x\n//@ paths\n", "key: value"),
            ("// x\n//@ endings: exploded\n", "no ending"),
            ("// x\n//@ verdict: maybe\n", "no verdict"),
            ("// x\n//@ flags: \"a\n", "unclosed"),
            ("// x\ny; //~ SEEN\n", "unknown claim"),
            ("// x\ny; //~ BOTH sides\n", "unexpected `sides`"),
            ("// x\ny; //~ BUG broken\n", "no kind"),
            ("// x\ny; //~ BUG abort when a == 1\n", "`where` expected"),
            ("// x\ny; //~ BUG abort where a ==\n", "early"),
        ] {
            let message = parse(text).expect_err(text);
            assert!(message.contains(word), "{text:?}: {message}");
        }
    }
}

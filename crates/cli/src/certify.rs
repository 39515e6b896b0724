//! `colt certify DIR`: asks z3 and cvc5 about the certificates of hangs.
//!
//! A certificate is a list of questions, each with the answer it must get. Both solvers are asked about all of them; Colt's own
//! solver has no say.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::args::CertifyArgs;
use crate::fault;
use crate::outcome::{Exit, Failure};
use crate::screen::print;

/// A solver and how it is asked about a file with several questions.
struct Solver {
    name: &'static str,
    words: &'static [&'static str],
}

const SOLVERS: [Solver; 2] = [
    Solver { name: "z3", words: &["-T:60"] },
    Solver { name: "cvc5", words: &["--incremental", "--tlimit=60000", "--lang=smt2"] },
];

/// How a line begins that says what the next answer must be.
const STATUS: &str = "(set-info :status ";

/// What a solver says about a certificate.
enum Verdict {
    Accepted,
    Rejected(String),
    /// It could not be asked, or did not know.
    Open(String),
}

pub fn certify(args: &CertifyArgs) -> Result<Exit, Failure> {
    fault::doing(format!("checking the certificates of {}", args.dir.display()));
    let files = certificates(&args.dir)?;
    if files.is_empty() {
        return Err(Failure::usage(format!("{} has no certificates: no hang was proved", args.dir.display())));
    }
    let (mut n_rejected, mut n_open) = (0, 0);
    for file in &files {
        let text = std::fs::read_to_string(file)
            .map_err(|error| Failure::usage(format!("cannot read {}: {error}", file.display())))?;
        let expected = statuses(&text);
        for solver in &SOLVERS {
            let said = match ask(solver, file, &expected) {
                Verdict::Accepted => format!("accepts all {} answers", expected.len()),
                Verdict::Rejected(why) => {
                    n_rejected += 1;
                    format!("rejects it: {why}")
                }
                Verdict::Open(why) => {
                    n_open += 1;
                    format!("does not say: {why}")
                }
            };
            print(&format!("{}: {} {said}\n", file.display(), solver.name));
        }
    }
    Ok(match (n_rejected, n_open) {
        (0, 0) => Exit::Success,
        (0, _) => Exit::Incomplete,
        _ => Exit::Disagreement,
    })
}

fn certificates(dir: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !dir.is_dir() {
        return Err(Failure::usage(format!("{} is no output folder", dir.display())));
    }
    let Ok(entries) = std::fs::read_dir(dir.join("certificates")) else { return Ok(Vec::new()) };
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "smt2"))
        .collect();
    files.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
    Ok(files)
}

/// The answers that the questions must get, in order.
fn statuses(text: &str) -> Vec<String> {
    let lines = text.lines().filter_map(|line| line.strip_prefix(STATUS)?.strip_suffix(')'));
    lines.map(str::to_string).collect()
}

/// The certificate without the answers.
fn questions_only(file: &Path) -> std::io::Result<tempfile::NamedTempFile> {
    let text = std::fs::read_to_string(file)?;
    let untold = tempfile::Builder::new().prefix("colt-certificate-").suffix(".smt2").tempfile()?;
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with(STATUS)).collect();
    std::fs::write(untold.path(), lines.join("\n") + "\n")?;
    Ok(untold)
}

fn ask(solver: &Solver, file: &Path, expected: &[String]) -> Verdict {
    if expected.is_empty() {
        return Verdict::Rejected("it asks nothing".to_string());
    }
    // A solver that is told the answer may stop where it finds another.
    let untold = match questions_only(file) {
        Ok(untold) => untold,
        Err(error) => return Verdict::Open(error.to_string()),
    };
    let asked = Command::new(solver.name).args(solver.words).arg(untold.path()).stdin(Stdio::null()).output();
    let output = match asked {
        Ok(output) => String::from_utf8_lossy(&output.stdout).into_owned(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Verdict::Open(format!("{} is not installed", solver.name));
        }
        Err(error) => return Verdict::Open(error.to_string()),
    };
    let answers: Vec<&str> = output.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    for (nth, expected) in expected.iter().enumerate() {
        match answers.get(nth) {
            Some(answer) if answer == expected => {}
            Some(answer @ (&"sat" | &"unsat")) => {
                return Verdict::Rejected(format!("question {} is {answer}, not {expected}", nth + 1));
            }
            Some(answer) => return Verdict::Open(format!("question {}: {answer}", nth + 1)),
            None => return Verdict::Open(format!("question {} was not answered", nth + 1)),
        }
    }
    Verdict::Accepted
}

#[cfg(test)]
mod tests {
    use super::*;

    const CERTIFICATE: &str = "(set-logic ALL)\n(declare-const x (_ BitVec 8))\n(push 1)\n(assert (= x #x01))\n\
        (set-info :status sat)\n(check-sat)\n(pop 1)\n(push 1)\n(assert (bvult x #x00))\n\
        (set-info :status unsat)\n(check-sat)\n(pop 1)\n";

    fn verdict(solver: &Solver, text: &str) -> Verdict {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("1.smt2");
        std::fs::write(&file, text).expect("a file");
        ask(solver, &file, &statuses(text))
    }

    #[test]
    fn both_solvers_accept_what_is_right_and_reject_what_was_altered() {
        for solver in &SOLVERS {
            assert!(matches!(verdict(solver, CERTIFICATE), Verdict::Accepted), "{}", solver.name);
            let altered = CERTIFICATE.replace("(bvult x #x00)", "(bvult x #x02)");
            assert!(matches!(verdict(solver, &altered), Verdict::Rejected(_)), "{}", solver.name);
        }
    }

    #[test]
    fn a_solver_that_is_not_there_is_no_rejection() {
        let solver = Solver { name: "no-such-solver", words: &[] };
        assert!(matches!(verdict(&solver, CERTIFICATE), Verdict::Open(_)));
    }
}

//! SMT solvers as child processes that speak SMT-LIB 2 over pipes.
//!
//! A process can be killed when its time is over, and when it crashes the campaign goes on: that is why no solver is linked
//! in. One process serves all questions, with a `(reset)` between them; if it dies it is started again once.

use crate::answer::Why;
use crate::clock::Clock;
use crate::config::SmtSolver;
use crate::layers::{Answers, Cost, Said, Setup};
use crate::query::{Query, Tools};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;
use term::{Assignment, Eval, Script, SymbolId, TermId, Terms};

/// What a backend says about a conjunction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    Sat(Vec<(SymbolId, u64)>),
    Unsat,
    Unknown(Why),
}

/// A complete solver for conjunctions of one-bit terms.
pub trait Backend {
    fn check(&mut self, terms: &Terms, constraints: &[TermId], timeout: Duration) -> Reply;
}

struct Smt(Box<dyn Backend>);

pub(crate) fn layer(setup: &mut Setup) -> Option<Box<dyn Answers>> {
    Some(Box::new(Smt(setup.smt.take()?)))
}

impl Answers for Smt {
    fn answer(&mut self, query: &mut Query, _tools: &mut Tools) -> Option<Said> {
        let left = query.clock().left();
        if left.is_zero() {
            return Some(Said::Unknown(Why::Timeout));
        }
        Some(match self.0.check(query.terms, &query.conjunction(), left) {
            Reply::Sat(values) => Said::Sat(values),
            Reply::Unsat => Said::Unsat(None),
            Reply::Unknown(why) => Said::Unknown(why),
        })
    }

    fn cost(&self) -> Cost {
        Cost::LastResort
    }
}

/// How a solver is started, and how it is told its time limit.
struct Dialect {
    program: String,
    arguments: Vec<String>,
    limit: fn(Duration) -> String,
}

impl Dialect {
    fn of(solver: SmtSolver) -> Option<Dialect> {
        match solver {
            SmtSolver::Z3 => Some(Dialect::new(&["z3", "-in", "-smt2"], |timeout| {
                format!("(set-option :timeout {})\n", timeout.as_millis().max(1))
            })),
            SmtSolver::Cvc5 => Some(Dialect::new(&["cvc5", "--lang=smt2", "--incremental", "--quiet"], |timeout| {
                format!("(set-option :tlimit-per {})\n", timeout.as_millis().max(1))
            })),
            SmtSolver::Absent => None,
        }
    }

    fn new(words: &[&str], limit: fn(Duration) -> String) -> Dialect {
        let arguments = words[1..].iter().map(|word| word.to_string()).collect();
        Dialect { program: words[0].to_string(), arguments, limit }
    }
}

/// The backend of this name; `None` for [`SmtSolver::Absent`]. The process is started by the first question.
/// When `stop` is set the question being asked stays unknown.
pub fn backend(solver: SmtSolver, stop: &Arc<AtomicBool>) -> Option<Box<dyn Backend>> {
    let stop = Arc::clone(stop);
    Dialect::of(solver).map(|dialect| Box::new(SmtProcess { dialect, process: None, stop }) as Box<dyn Backend>)
}

/// Any program that reads SMT-LIB from its input, for comparison: its name and arguments. It is told no time limit and killed when
/// its time is over.
pub fn program_as_backend(words: &[&str]) -> Box<dyn Backend> {
    Box::new(SmtProcess { dialect: Dialect::new(words, |_| String::new()), process: None, stop: Arc::default() })
}

/// Whether the solver's program can be started on this machine.
pub fn is_installed(solver: SmtSolver) -> bool {
    Dialect::of(solver).is_some_and(|dialect| {
        let version = Command::new(&dialect.program)
            .arg("--version")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        version.is_ok_and(|status| status.success())
    })
}

struct SmtProcess {
    dialect: Dialect,
    process: Option<Process>,
    stop: Arc<AtomicBool>,
}

struct Process {
    child: Child,
    /// To a thread that writes it to the child: a solver that takes long over the first half of a question does not
    /// read the second, and whoever writes to it then waits without end.
    texts: Sender<String>,
    lines: Receiver<String>,
}

/// How long a solver may go on beyond its own limit: as long again, within these.
const MIN_MARGIN: Duration = Duration::from_millis(50);
const MAX_MARGIN: Duration = Duration::from_millis(500);
/// How often a wait for an answer looks whether all is to stop.
const STOP_INTERVAL: Duration = Duration::from_millis(50);

/// Why a dialogue broke off.
enum Broken {
    TimedOut,
    Died,
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have exited by itself; there is nothing to do about a failure here.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Process {
    fn start(dialect: &Dialect) -> Result<Process, Broken> {
        let mut child = Command::new(&dialect.program)
            .args(&dialect.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|_| Broken::Died)?;
        let mut stdin = child.stdin.take().expect("stdin is piped");
        let stdout = child.stdout.take().expect("stdout is piped");
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                let Ok(line) = line else { break };
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        let (texts, texts_to_write) = channel::<String>();
        std::thread::spawn(move || {
            for text in texts_to_write {
                if stdin.write_all(text.as_bytes()).and_then(|()| stdin.flush()).is_err() {
                    break;
                }
            }
        });
        Ok(Process { child, texts, lines })
    }

    fn send(&mut self, text: &str) -> Result<(), Broken> {
        self.texts.send(text.to_string()).map_err(|_| Broken::Died)
    }

    fn line(&mut self, clock: &Clock) -> Result<String, Broken> {
        loop {
            match self.lines.recv_timeout(clock.left().min(STOP_INTERVAL)) {
                Ok(line) => return Ok(line),
                Err(RecvTimeoutError::Disconnected) => return Err(Broken::Died),
                Err(RecvTimeoutError::Timeout) if clock.is_over() => return Err(Broken::TimedOut),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Lines up to the one that closes all parentheses.
    fn expression(&mut self, clock: &Clock) -> Result<String, Broken> {
        let mut text = String::new();
        loop {
            text.push_str(&self.line(clock)?);
            text.push(' ');
            let count = |c| text.chars().filter(|&other| other == c).count();
            if count('(') == count(')') {
                return Ok(text);
            }
        }
    }
}

impl Backend for SmtProcess {
    fn check(&mut self, terms: &Terms, constraints: &[TermId], timeout: Duration) -> Reply {
        let mut symbols = Vec::new();
        let (text, has_gaps) = self.question(terms, constraints, timeout, &mut symbols);
        // Its own limit comes first; ours is for the case that it does not keep it.
        let margin = timeout.clamp(MIN_MARGIN, MAX_MARGIN);
        let clock = Clock::new(timeout + margin, &self.stop);
        let mut last = Broken::Died;
        for _ in 0..2 {
            match self.dialogue(&text, terms, &symbols, &clock, margin) {
                Ok(Reply::Sat(values)) if has_gaps && !holds(terms, constraints, &values) => {
                    return Reply::Unknown(Why::Floats);
                }
                Ok(reply) => return reply,
                Err(broken) => {
                    self.process = None;
                    last = broken;
                }
            }
            if matches!(last, Broken::TimedOut) {
                break;
            }
        }
        Reply::Unknown(match last {
            Broken::TimedOut => Why::Timeout,
            Broken::Died => Why::SolverDied,
        })
    }
}

/// Whether all constraints hold under these values, those of other symbols being zero.
fn holds(terms: &Terms, constraints: &[TermId], values: &[(SymbolId, u64)]) -> bool {
    let mut input = Assignment::new();
    values.iter().for_each(|&(symbol, value)| input.set(symbol, value));
    let mut eval = Eval::new();
    constraints.iter().all(|&constraint| eval.holds(terms, &input, constraint))
}

impl SmtProcess {
    /// The text, and whether something in it may be anything.
    fn question(
        &self,
        terms: &Terms,
        constraints: &[TermId],
        timeout: Duration,
        symbols: &mut Vec<SymbolId>,
    ) -> (String, bool) {
        let mut script = Script::new();
        let mut body = String::new();
        for &constraint in constraints {
            script.assert(terms, constraint, &mut body);
        }
        symbols.extend(script.declared());
        symbols.sort_unstable();
        // Under QF_ABV z3 refuses constant arrays, which tables are made of; ALL is understood by every solver.
        let logic = if script.has_arrays() { "ALL" } else { "QF_BV" };
        let limit = (self.dialect.limit)(timeout);
        let options = "(set-option :produce-models true)";
        let text = format!("(reset)\n{limit}{options}\n(set-logic {logic})\n{body}(check-sat)\n");
        (text, script.has_gaps())
    }

    /// `margin` is what the clock has beyond the solver's own limit.
    fn dialogue(
        &mut self,
        text: &str,
        terms: &Terms,
        symbols: &[SymbolId],
        clock: &Clock,
        margin: Duration,
    ) -> Result<Reply, Broken> {
        if self.process.is_none() {
            self.process = Some(Process::start(&self.dialect)?);
        }
        let process = self.process.as_mut().expect("just started");
        process.send(text)?;
        match process.line(clock)?.as_str() {
            "unsat" => return Ok(Reply::Unsat),
            "sat" => {}
            "unknown" | "timeout" => {
                // A solver that stops a little before its limit stops for it.
                let in_time = clock.left() > margin + margin / 5;
                return Ok(Reply::Unknown(if in_time { Why::SolverSaid } else { Why::Timeout }));
            }
            _ => {
                // An error message: what follows belongs to this question and must not be read by the next.
                self.process = None;
                return Ok(Reply::Unknown(Why::SolverSaid));
            }
        }
        if symbols.is_empty() {
            return Ok(Reply::Sat(Vec::new()));
        }
        let names: Vec<String> = symbols.iter().map(|symbol| format!("s{}", symbol.0)).collect();
        process.send(&format!("(get-value ({}))\n", names.join(" ")))?;
        let values = process.expression(&Clock::new(clock.left().max(Duration::from_secs(1)), &self.stop))?;
        Ok(match parse_values(terms, &values) {
            Some(values) => Reply::Sat(values),
            None => Reply::Unknown(Why::SolverSaid),
        })
    }
}

/// Reads `((s0 #x12) (s1 #b01) ...)`.
fn parse_values(terms: &Terms, text: &str) -> Option<Vec<(SymbolId, u64)>> {
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || c == '(' || c == ')').filter(|word| !word.is_empty()).collect();
    let mut values = Vec::with_capacity(words.len() / 2);
    for pair in words.chunks(2) {
        let [name, value] = pair else { return None };
        let symbol = SymbolId(name.strip_prefix('s')?.parse().ok()?);
        let value = match value.strip_prefix("#x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok()?,
            None => u64::from_str_radix(value.strip_prefix("#b")?, 2).ok()?,
        };
        ((symbol.0 as usize) < terms.n_symbols()).then_some(())?;
        values.push((symbol, value));
    }
    Some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_solver_that_does_not_read_is_given_up_in_time() {
        let deaf = Dialect::new(&["sleep", "60"], |_| String::new());
        let mut process = Process::start(&deaf).unwrap_or_else(|_| panic!("sleep can be started"));
        // More than a pipe holds.
        assert!(process.send(&" ".repeat(1 << 22)).is_ok());
        let clock = Clock::new(Duration::from_millis(100), &Arc::default());
        assert!(matches!(process.line(&clock), Err(Broken::TimedOut)));
    }
}

//! `report.html`: one file that needs nothing else, with findings, coverage by source line, ledger and path tree.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::drawing;
use crate::heap::shown;
use crate::{Case, Expected, FindingSummary, Sources, Summary, Verdict};

/// `coverage.json`: line, count; and line, column, times true, times false.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoverageView {
    pub lines: BTreeMap<String, Vec<(u32, u64)>>,
    pub branches: BTreeMap<String, Vec<(u32, u32, u64, u64)>>,
}

pub struct HtmlReport<'a> {
    pub summary: &'a Summary,
    pub coverage: &'a CoverageView,
    pub cases: &'a [Case],
}

/// Tests drawn in the tree; beyond that it is a wall of text, and the folder has them all.
const TREE_TESTS: usize = 2000;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 1em;color:#222}\
h1{font-size:1.5em}h2{font-size:1.2em;margin-top:2em}table{border-collapse:collapse}\
td,th{padding:.15em .8em;text-align:left;vertical-align:top;border-bottom:1px solid #ddd}\
pre,code,.src td{font:13px/1.4 ui-monospace,monospace}.src{width:100%}.src td{border:0;padding:0 .6em;white-space:pre}\
.src td.n{color:#888;text-align:right;width:1%}.hit{background:#e6f6e6}.miss{background:#fde8e8}.half{background:#fff4d0}\
.bad{color:#b00020;font-weight:600}.good{color:#1b7f2a;font-weight:600}details{margin-left:1.2em}summary{cursor:pointer}\
.leaf{margin-left:1.2em}.note{color:#b00020}.heap{max-width:100%;height:auto}\
@media(prefers-color-scheme:dark){body{background:#16181c;color:#ddd}td,th{border-color:#333}.hit{background:#173a1d}\
.miss{background:#43201f}.half{background:#3f3716}}";

/// The whole page.
pub fn html(report: &HtmlReport, sources: &mut Sources) -> String {
    let summary = report.summary;
    let title = format!("Colt: {}", summary.program.join(" "));
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title><style>{STYLE}</style></head>\n\
         <body><h1>{0}</h1>\n",
        escape(&title)
    );
    figures(summary, &mut page);
    findings(report, &mut page);
    ledger(summary, &mut page);
    coverage(report, sources, &mut page);
    tree(report.cases, &mut page);
    page.push_str("</body></html>\n");
    page
}

fn figures(summary: &Summary, page: &mut String) {
    let (class, verdict) = match summary.verdict {
        Verdict::Complete => ("good", "complete: these are all the paths there are"),
        Verdict::Incomplete => ("bad", "incomplete: there may be more paths"),
    };
    let endings: Vec<String> = summary
        .paths
        .by_ending()
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| format!("{count} {name}"))
        .collect();
    let coverage = &summary.coverage;
    let rows = [
        ("Entry", escape(&summary.entry)),
        ("Verdict", format!("<span class=\"{class}\">{verdict}</span>")),
        ("Paths", format!("{} ({})", summary.paths.total, endings.join(", "))),
        ("Tests", summary.tests.to_string()),
        (
            "Coverage",
            format!(
                "lines {}/{}, branches {}/{} {}",
                coverage.lines.covered,
                coverage.lines.total,
                coverage.branches.covered,
                coverage.branches.total,
                escape(&coverage.note)
            ),
        ),
        (
            "Queries",
            format!(
                "{} asked, {} reached a solver, {} unanswered",
                summary.queries.asked, summary.queries.solver, summary.queries.unknown
            ),
        ),
        ("Instructions", summary.instructions.to_string()),
        (
            "Time",
            format!(
                "{:.2} s exploring, {:.2} s building, {:.2} s replaying; {} MB",
                summary.time_s, summary.build_s, summary.replay_s, summary.memory_mb
            ),
        ),
        ("Techniques", if summary.line_up.is_empty() { "none".into() } else { escape(&summary.line_up.join(", ")) }),
    ];
    page.push_str("<table>");
    for (name, value) in rows {
        let _ = writeln!(page, "<tr><th>{name}</th><td>{value}</td></tr>");
    }
    page.push_str("</table>\n");
}

fn findings(report: &HtmlReport, page: &mut String) {
    page.push_str("<h2>Findings</h2>\n");
    if report.summary.findings.is_empty() {
        page.push_str("<p>None.</p>\n");
        return;
    }
    page.push_str("<table><tr><th>Place</th><th>What</th><th>Input that shows it</th><th>Native run</th></tr>\n");
    for (finding_idx, finding) in report.summary.findings.iter().enumerate() {
        finding_row(finding_idx, finding, report.cases, page);
    }
    page.push_str("</table>\n");
}

fn finding_row(finding_idx: usize, finding: &FindingSummary, cases: &[Case], page: &mut String) {
    let case = cases.iter().find(|case| finding.test == format!("tests/{}.json", case.id));
    let inputs: Vec<String> = case.map_or_else(Vec::new, |case| {
        case.inputs
            .iter()
            .map(|input| format!("<code>{} = {}</code>", escape(&input.name), escape(&shown(input, &case.inputs))))
            .chain(drawing::heap(&case.inputs))
            .collect()
    });
    let native = if finding.confirmed {
        "<span class=\"good\">shows it</span>".to_string()
    } else {
        format!("<span class=\"bad\">does not show it</span>: {}", escape(&finding.evidence))
    };
    let _ = writeln!(
        page,
        "<tr id=\"finding-{finding_idx}\"><td>{}:{}<br>{}</td><td><b>{}</b> (CWE-{})<br>{}<br>{} paths</td><td>{}<br>{}</td><td>{native}</td></tr>",
        escape(&finding.file),
        finding.line,
        escape(&finding.function),
        escape(&finding.kind),
        finding.cwe,
        escape(&finding.message),
        finding.paths,
        inputs.join("<br>"),
        escape(&finding.test)
    );
}

fn ledger(summary: &Summary, page: &mut String) {
    page.push_str("<h2>Where precision was given up</h2>\n");
    if summary.ledger.is_empty() && summary.gaps.is_empty() && summary.cuts.is_empty() {
        page.push_str("<p>Nowhere.</p>\n");
        return;
    }
    page.push_str("<table><tr><th>Place</th><th>What</th><th>Paths</th></tr>\n");
    let mut row = |file: &str, line: u32, what: String, count: u64| {
        let place = if line > 0 { format!("{}:{line}", escape(file)) } else { String::new() };
        let _ = writeln!(page, "<tr><td>{place}</td><td>{}</td><td>{count}</td></tr>", escape(&what));
    };
    for cut in &summary.cuts {
        row("", 0, format!("cut by the {} budget", cut.budget), cut.count);
    }
    for gap in &summary.gaps {
        row(&gap.file, gap.line, format!("unsupported: {}", gap.message), gap.count);
    }
    for entry in &summary.ledger {
        row(&entry.file, entry.line, format!("{} {}", entry.kind, entry.detail), entry.count);
    }
    page.push_str("</table>\n");
}

fn coverage(report: &HtmlReport, sources: &mut Sources, page: &mut String) {
    page.push_str("<h2>Coverage</h2>\n");
    for (file, lines) in &report.coverage.lines {
        let counts: BTreeMap<u32, u64> = lines.iter().copied().collect();
        let branches = report.coverage.branches.get(file).map_or(&[][..], Vec::as_slice);
        let _ = writeln!(page, "<h3>{}</h3><table class=\"src\">", escape(file));
        for (line_idx, text) in sources.lines(file).iter().enumerate() {
            let line = line_idx as u32 + 1;
            let is_half = branches.iter().any(|(at, _, t, f)| *at == line && (*t == 0) != (*f == 0));
            let (class, count) = match counts.get(&line) {
                None => ("", String::new()),
                Some(0) => ("miss", "0".to_string()),
                Some(count) if is_half => ("half", count.to_string()),
                Some(count) => ("hit", count.to_string()),
            };
            let notes: Vec<String> = report
                .summary
                .findings
                .iter()
                .enumerate()
                .filter(|(_, finding)| finding.line == line && finding.file == *file)
                .map(|(idx, finding)| {
                    format!("<a class=\"note\" href=\"#finding-{idx}\">{}</a>", escape(&finding.kind))
                })
                .collect();
            let _ = writeln!(
                page,
                "<tr class=\"{class}\"><td class=\"n\">{count}</td><td class=\"n\">{line}</td><td>{} {}</td></tr>",
                escape(text),
                notes.join(" ")
            );
        }
        page.push_str("</table>\n");
    }
}

/// Decisions as a trie: a node with one child is drawn as part of its parent.
#[derive(Default)]
struct Node<'a> {
    children: BTreeMap<u64, Node<'a>>,
    cases: Vec<&'a Case>,
}

fn tree(cases: &[Case], page: &mut String) {
    page.push_str("<h2>Paths</h2>\n");
    if cases.len() > TREE_TESTS {
        let _ = writeln!(page, "<p>The first {TREE_TESTS} of {} tests.</p>", cases.len());
    }
    let mut root = Node::default();
    for case in cases.iter().take(TREE_TESTS) {
        let mut node = &mut root;
        for decision in &case.path {
            node = node.children.entry(*decision).or_default();
        }
        node.cases.push(case);
    }
    draw(root, page);
}

/// Without recursion: a path may have thousands of decisions.
fn draw(root: Node, page: &mut String) {
    enum Step<'a> {
        Enter(String, Node<'a>),
        Leave,
    }
    let mut steps = vec![Step::Enter(String::new(), root)];
    while let Some(step) = steps.pop() {
        let Step::Enter(mut decisions, mut node) = step else {
            page.push_str("</details>\n");
            continue;
        };
        while node.cases.is_empty() && node.children.len() == 1 {
            let Some((decision, child)) = node.children.pop_first() else { break };
            let _ = write!(decisions, " {decision}");
            node = child;
        }
        for case in std::mem::take(&mut node.cases) {
            let class = if matches!(case.expected, Expected::Bug { .. }) { "leaf bad" } else { "leaf" };
            let _ = writeln!(
                page,
                "<div class=\"{class}\"><code>{}</code> {}: {}</div>",
                abbreviate(&decisions),
                case.id,
                escape(&case.expected.describe())
            );
        }
        if node.children.is_empty() {
            continue;
        }
        let _ = writeln!(page, "<details open><summary><code>{}</code></summary>", abbreviate(&decisions));
        steps.push(Step::Leave);
        while let Some((decision, child)) = node.children.pop_last() {
            steps.push(Step::Enter(decision.to_string(), child));
        }
    }
}

fn abbreviate(decisions: &str) -> String {
    const MOST: usize = 60;
    if decisions.len() <= MOST { decisions.to_string() } else { format!("{} …", &decisions[..MOST]) }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(id: &str, path: Vec<u64>) -> Case {
        Case { id: id.into(), inputs: vec![], expected: Expected::Status(0), path }
    }

    #[test]
    fn hostile_names_stay_text() {
        let summary = Summary { program: vec!["<script>.c".into()], ..Summary::default() };
        let report = HtmlReport { summary: &summary, coverage: &CoverageView::default(), cases: &[] };
        let page = html(&report, &mut Sources::default());
        assert!(!page.contains("<script>"));
        assert!(page.contains("&lt;script&gt;.c"));
    }

    #[test]
    fn the_tree_has_every_test_once_and_is_balanced() {
        let cases = [case("1", vec![0, 0]), case("2", vec![0, 1, 5]), case("3", vec![1]), case("4", vec![0; 100_000])];
        let mut page = String::new();
        tree(&cases, &mut page);
        for case in &cases {
            assert_eq!(page.matches(&format!("{}: ends with", case.id)).count(), 1, "{page}");
        }
        assert_eq!(page.matches("<details").count(), page.matches("</details>").count());
    }
}

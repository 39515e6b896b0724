//! `findings.sarif`: SARIF 2.1.0, one rule per kind of finding, each with its CWE number.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{FindingSummary, Summary};

/// The whole file as text.
pub fn sarif(summary: &Summary) -> String {
    let mut rules: BTreeMap<&str, &FindingSummary> = BTreeMap::new();
    for finding in &summary.findings {
        rules.entry(&finding.kind).or_insert(finding);
    }
    let rule_ids: Vec<&str> = rules.keys().copied().collect();
    let results: Vec<Value> = summary.findings.iter().map(|finding| result(finding, &rule_ids)).collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "colt",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules.values().map(|finding| rule(finding)).collect::<Vec<Value>>(),
                "supportedTaxonomies": [{ "name": "CWE", "index": 0 }],
            }},
            "taxonomies": [taxonomy(&rules)],
            "columnKind": "utf16CodeUnits",
            "results": results,
        }],
    });
    let mut text = serde_json::to_string_pretty(&log).unwrap_or_default();
    text.push('\n');
    text
}

fn cwe_id(finding: &FindingSummary) -> String {
    format!("CWE-{}", finding.cwe)
}

fn rule(finding: &FindingSummary) -> Value {
    json!({
        "id": finding.kind,
        "shortDescription": { "text": finding.kind.replace('-', " ") },
        "helpUri": format!("https://cwe.mitre.org/data/definitions/{}.html", finding.cwe),
        "properties": { "tags": ["security", format!("external/cwe/cwe-{:03}", finding.cwe)] },
        "relationships": [{
            "target": { "id": finding.cwe.to_string(), "toolComponent": { "name": "CWE" } },
            "kinds": ["superset"],
        }],
    })
}

fn taxonomy(rules: &BTreeMap<&str, &FindingSummary>) -> Value {
    let mut ids: Vec<u32> = rules.values().map(|finding| finding.cwe).collect();
    ids.sort_unstable();
    ids.dedup();
    json!({
        "name": "CWE",
        "organization": "MITRE",
        "shortDescription": { "text": "The MITRE Common Weakness Enumeration" },
        "taxa": ids.iter().map(|id| json!({ "id": id.to_string() })).collect::<Vec<Value>>(),
    })
}

fn result(finding: &FindingSummary, rule_ids: &[&str]) -> Value {
    let mut region = json!({ "startLine": finding.line.max(1) });
    if finding.column > 0 {
        region["startColumn"] = json!(finding.column);
    }
    json!({
        "ruleId": finding.kind,
        "ruleIndex": rule_ids.iter().position(|id| *id == finding.kind),
        "level": if finding.confirmed { "error" } else { "warning" },
        "message": { "text": finding.message },
        "locations": [{
            "physicalLocation": {
                "artifactLocation": { "uri": uri(&finding.file) },
                "region": region,
            },
            "logicalLocations": [{ "name": finding.function, "kind": "function" }],
        }],
        "partialFingerprints": { "place/v1": format!("{}:{}:{}", finding.kind, finding.file, finding.line) },
        "properties": {
            "cwe": cwe_id(finding),
            "test": finding.test,
            "confirmed": finding.confirmed,
            "evidence": finding.evidence,
            "paths": finding.paths,
        },
    })
}

/// A path as a URI reference: everything outside the unreserved characters and `/` is percent-encoded.
fn uri(path: &str) -> String {
    let mut text = String::new();
    if path.starts_with('/') {
        text.push_str("file://");
    }
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => text.push(char::from(byte)),
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_point_at_their_rules() {
        let finding = |kind: &str, cwe, confirmed| FindingSummary {
            kind: kind.into(),
            cwe,
            file: "a b.c".into(),
            line: 3,
            column: 7,
            confirmed,
            ..FindingSummary::default()
        };
        let summary = Summary {
            findings: vec![
                finding("use-after-free", 416, true),
                finding("abort", 617, false),
                finding("abort", 617, true),
            ],
            ..Summary::default()
        };
        let log: Value = serde_json::from_str(&sarif(&summary)).expect("valid JSON");
        let run = &log["runs"][0];
        let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
        assert_eq!(rules.len(), 2);
        for result in run["results"].as_array().expect("results") {
            let rule_idx = result["ruleIndex"].as_u64().expect("index") as usize;
            assert_eq!(rules[rule_idx]["id"], result["ruleId"]);
        }
        let location = &run["results"][0]["locations"][0]["physicalLocation"];
        assert_eq!(location["artifactLocation"]["uri"], "a%20b.c");
        assert_eq!(location["region"], json!({"startLine": 3, "startColumn": 7}));
        assert_eq!(run["results"][1]["level"], "warning");
        assert_eq!(run["results"][0]["properties"]["cwe"], "CWE-416");
    }
}

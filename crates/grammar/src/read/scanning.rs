//! What the rules of a scanner give, each in its modes: the start conditions of lex, the modes of ANTLR.
//!
//! A token that begins another mode leads there: what matches next is what matches in it. A rule that gives nothing and begins another
//! mode is put together with what matches there up to the token that leaves it, as strings are often scanned.

use crate::composed::{LeftOut, Step, composed};
use crate::draft::{Draft, DraftPattern, Gives, reached_modes, text_name};
use crate::language::{Kind, Language};
use crate::scanner::takes_more;
use crate::{Lost, Place, scanner};

/// A rule of a scanner with what it does.
pub struct ScanRule {
    /// What messages call it.
    pub pattern: String,
    pub line: usize,
    /// Where it matches.
    pub modes: Vec<String>,
    pub language: Language,
    pub place: Place,
    pub surroundings: Surroundings,
    pub action: Action,
}

/// Whether a pattern asks for more than its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surroundings {
    Any,
    /// The beginning of a line, or what follows.
    Matter,
}

/// What the action of a rule does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    pub gives: Returns,
    pub then: Then,
}

/// What an action gives the parser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Returns {
    Nothing,
    /// Nothing yet: what is matched next is added to it.
    More,
    /// The character that was matched.
    ItsText,
    /// One of these.
    Tokens(Vec<String>),
    /// It ends the text, or gives what no parser takes.
    Refused,
    /// Nothing that a text needs: it complains, stops the program, or passes over more of the text than it matched.
    Aside,
    /// Why one cannot say.
    Unknown(String),
}

/// Which patterns match next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Then {
    Same,
    /// Those of this start condition.
    Goes(String),
    /// The same, until the one before comes back.
    Pushes(String),
    Pops,
    /// One cannot say.
    Unclear,
}

/// Writes down the patterns of the rules.
pub fn give(draft: &mut Draft, rules: &[ScanRule]) {
    let mut giver = Giver { draft, rules, composed: Vec::new(), said: Vec::new() };
    rules.iter().for_each(|rule| giver.rule(rule));
    giver.conclude();
}

struct Giver<'d, 'r> {
    draft: &'d mut Draft,
    rules: &'r [ScanRule],
    /// Modes that were put together with what begins them.
    composed: Vec<&'r str>,
    /// What is to be said of rules, where a text comes to a mode that they match in.
    said: Vec<Saying<'r>>,
}

struct Saying<'r> {
    rule: &'r ScanRule,
    lost: Lost,
    text: String,
    /// Tokens of which one has to be in a rule for it to matter; none where it always does.
    matters_for: Vec<String>,
}

/// Where a step that closes leads, and what it gives.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Closes {
    token: Option<String>,
    then: Then,
}

impl<'r> Giver<'_, 'r> {
    fn push(&mut self, rule: &ScanRule, gives: Gives, language: Language, then: scanner::Then<String>) {
        let (place, modes) = (rule.place, Some(rule.modes.clone()));
        self.draft.patterns.push(DraftPattern { gives, language, place, modes, then });
    }

    /// No text is written for it, but it takes texts from others.
    fn push_unknown(&mut self, rule: &ScanRule) {
        self.push(rule, Gives::Unknown, rule.language.clone(), scanner::Then::Same);
    }

    fn say(&mut self, rule: &'r ScanRule, lost: Lost, text: String) {
        self.said.push(Saying { rule, lost, text, matters_for: Vec::new() });
    }

    fn rule(&mut self, rule: &'r ScanRule) {
        if rule.surroundings == Surroundings::Matter {
            let text = format!("`{}` depends on what stands around it; its texts are not written", rule.pattern);
            match rule.action.gives {
                Returns::Nothing | Returns::Refused | Returns::Aside => self.say(rule, Lost::Nothing, text),
                _ => self.say(rule, Lost::Texts, text),
            }
            return self.push_unknown(rule);
        }
        let then = match &rule.action.then {
            Then::Same => scanner::Then::Same,
            Then::Goes(name) if rule.modes == [name.clone()] => scanner::Then::Same,
            Then::Goes(name) => scanner::Then::Goes(name.clone()),
            Then::Pushes(name) => scanner::Then::Pushes(name.clone()),
            Then::Pops => scanner::Then::Pops,
            Then::Unclear => {
                let why = "one cannot say what its action begins";
                self.say(rule, Lost::Texts, format!("`{}`: {why}; --grammar-tokens can say what it is", rule.pattern));
                return self.push_unknown(rule);
            }
        };
        match &rule.action.gives {
            Returns::Nothing if then == scanner::Then::Same => {
                self.push(rule, Gives::Nothing, rule.language.clone(), then);
            }
            Returns::Nothing | Returns::More => {
                self.push_unknown(rule);
                self.begin(rule);
            }
            // Nobody needs a text that ends early.
            Returns::Refused => self.push(rule, Gives::Refused, rule.language.clone(), scanner::Then::Same),
            Returns::Aside => self.push_unknown(rule),
            Returns::Tokens(tokens) if tokens.len() == 1 => {
                self.push(rule, Gives::Token(tokens[0].clone()), rule.language.clone(), then);
            }
            Returns::ItsText => {
                // One pattern for each byte it matches; whatever is longer one cannot say.
                for byte in (0..=255u8).filter(|byte| rule.language.accepts(&[*byte])) {
                    let gives = Gives::Token(text_name(&[byte]));
                    self.push(rule, gives, Language::of_text(&[byte]), then.clone());
                }
                let is_longer = match rule.language.kind() {
                    Kind::Finite { longest } => longest > 1,
                    Kind::One(text) => text.len() > 1,
                    Kind::Infinite => true,
                    Kind::Empty => false,
                };
                if is_longer {
                    let text = format!("`{}` returns its first character also where it matches more", rule.pattern);
                    self.say(rule, Lost::Texts, text);
                    self.push_unknown(rule);
                }
            }
            Returns::Tokens(tokens) => {
                let names = tokens.join(" or ");
                let text = format!("`{}` returns {names}, and one cannot say when; --grammar-tokens can", rule.pattern);
                self.say(rule, Lost::Texts, text);
                self.push_unknown(rule);
            }
            Returns::Unknown(why) => {
                self.say(rule, Lost::Texts, format!("`{}`: {why}; --grammar-tokens can say what it is", rule.pattern));
                self.push_unknown(rule);
            }
        }
    }

    /// A rule that gives nothing and begins another mode: what follows there belongs to it.
    fn begin(&mut self, rule: &'r ScanRule) {
        let (Then::Goes(name) | Then::Pushes(name)) = &rule.action.then else {
            // What it is added to is not known, or where it comes back to.
            let text = format!("`{}`: what its action leads to is not written", rule.pattern);
            return self.say(rule, Lost::Texts, text);
        };
        let steps = self.steps(rule, name);
        let mut gives_more = false;
        let mut others: Vec<String> = Vec::new();
        for (_, rule) in steps.iter().filter(|(step, _)| *step == Step::Other) {
            match &rule.action.gives {
                Returns::Refused | Returns::Aside | Returns::Nothing => {}
                Returns::Tokens(tokens) => others.extend(tokens.iter().cloned()),
                Returns::More | Returns::ItsText | Returns::Unknown(_) => gives_more = true,
            }
        }
        let is_comment = !gives_more
            && others.is_empty()
            && !steps.iter().any(|(step, _)| matches!(step, Step::Closes(Closes { token: Some(_), .. })));
        let text = format!("`{}`: what begins there is not written", rule.pattern);
        if is_comment {
            return self.say(rule, Lost::Nothing, text);
        }
        let languages: Vec<_> = steps.iter().map(|(step, rule)| (step.clone(), &rule.language)).collect();
        let Some(found) = self.opening(rule).and_then(|opens| {
            let is_seen = !self.is_taken(rule, &opens, &languages);
            composed(&opens, &languages).filter(|_| is_seen)
        }) else {
            return self.say(rule, Lost::Texts, text);
        };
        for (Closes { token, then }, language) in found.texts {
            let Some(token) = token else { continue };
            let then = match then {
                Then::Goes(to) if rule.modes != [to.clone()] => scanner::Then::Goes(to),
                _ => scanner::Then::Same,
            };
            self.push(rule, Gives::Token(token), language, then);
        }
        self.composed.push(name);
        let text = format!("`{}`: not all that begins there is written", rule.pattern);
        if gives_more || found.left_out == LeftOut::Steps {
            self.say(rule, Lost::Texts, text);
        } else if !others.is_empty() {
            self.said.push(Saying { rule, lost: Lost::Texts, text, matters_for: others });
        }
    }

    /// What matches in a mode that a rule begins, and what that does.
    fn steps(&self, begins: &ScanRule, mode: &str) -> Vec<(Step<Closes>, &'r ScanRule)> {
        let is_in = |rule: &&ScanRule| rule.modes.iter().any(|name| name == mode);
        let step = |rule: &'r ScanRule| {
            let token = match &rule.action.gives {
                Returns::Nothing | Returns::More => None,
                Returns::Tokens(tokens) if tokens.len() == 1 => Some(tokens[0].clone()),
                _ => return Step::Other,
            };
            let is_pushed = matches!(begins.action.then, Then::Pushes(_));
            match (&rule.action.then, token) {
                _ if rule.surroundings == Surroundings::Matter => Step::Other,
                (Then::Same, None) => Step::Within,
                (Then::Goes(to), None) if to == mode => Step::Within,
                (Then::Goes(to), token) if begins.modes.contains(to) => {
                    Step::Closes(Closes { token, then: rule.action.then.clone() })
                }
                (Then::Pops, token) if is_pushed => Step::Closes(Closes { token, then: Then::Pops }),
                _ => Step::Other,
            }
        };
        self.rules.iter().filter(is_in).map(|rule| (step(rule), rule)).collect()
    }

    /// What a rule matches of all that it could: earlier rules have theirs.
    fn opening(&self, begins: &ScanRule) -> Option<Language> {
        let earlier = self.rules.iter().take_while(|rule| !std::ptr::eq(*rule, begins));
        let beside = earlier.filter(|rule| rule.modes.iter().any(|name| begins.modes.contains(name)));
        let own = beside.fold(begins.language.clone(), |own, rule| own.minus(&rule.language));
        (!own.is_empty()).then_some(own)
    }

    /// Whether a rule beside the one that begins may take more than that does.
    fn is_taken(&self, begins: &ScanRule, opens: &Language, steps: &[(Step<Closes>, &Language)]) -> bool {
        let beside = |rule: &&ScanRule| rule.modes.iter().any(|name| begins.modes.contains(name));
        let mut follow = steps.iter().filter(|(step, _)| *step != Step::Other).map(|(_, language)| *language);
        follow.any(|next| self.rules.iter().filter(beside).any(|rule| takes_more(&rule.language, opens, next)))
    }

    /// Notes on what matters to texts, and on modes that none comes to although they have tokens.
    fn conclude(mut self) {
        let reached = reached_modes(&self.draft.patterns);
        let matters = |rule: &ScanRule| rule.modes.iter().any(|mode| reached.contains(mode));
        for Saying { rule, lost, text, matters_for } in std::mem::take(&mut self.said) {
            match lost {
                _ if !matters(rule) => {}
                Lost::Texts if !matters_for.is_empty() => self.draft.lose_with(matters_for, Some(rule.line), text),
                Lost::Texts => self.draft.lose(Some(rule.line), text),
                Lost::Nothing => self.draft.note(Some(rule.line), text),
            }
        }
        let mut said: Vec<&str> = Vec::new();
        for rule in self.rules {
            let is_composed = |mode: &String| self.composed.contains(&mode.as_str());
            let gives_none =
                matches!(rule.action.gives, Returns::Nothing | Returns::More | Returns::Refused | Returns::Aside);
            if gives_none
                || matters(rule)
                || rule.modes.iter().any(is_composed)
                || said.contains(&rule.modes[0].as_str())
            {
                continue;
            }
            said.push(&rule.modes[0]);
            let text = format!("`{}` only matches in {}, which no text comes to", rule.pattern, rule.modes.join(", "));
            self.draft.lose(Some(rule.line), text);
        }
    }
}

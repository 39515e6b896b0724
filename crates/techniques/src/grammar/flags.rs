//! The flags of `grammar`, and what is made of them.

use std::path::PathBuf;
use std::sync::Arc;

use ::grammar::read::Files;

use super::{Config, NAME, Texts, company, words};
use crate::{Entry, Flag, Flags, Making, Named, Part, Resume, Takes};

const FUZZER_ENTRY: &str = "LLVMFuzzerTestOneInput";

pub const ENTRY: Entry = Entry {
    name: NAME,
    flags: &[FILE, MAX, INPUT, TOKENS, WORDS, CONSTANTS, ERRORS, FILL],
    check,
    make,
    resume: Resume::FromPending,
    company: company::COMPANY,
};

const FILE: Flag = Flag {
    name: "grammar-file",
    help: "`grammar`: the language: yacc (.y) with lex (.l), ANTLR (.g4), or the plain form of docs/grammars.md",
    takes: Takes::List { named: "FILE,..." },
};

const MAX: Flag = Flag {
    name: "grammar-max",
    help: "`grammar`: tokens of a text; a hole counts one more for each byte beyond its shortest text",
    takes: Takes::Number { named: "N", default: 8 },
};

const INPUT: Flag = Flag {
    name: "grammar-input",
    help: "`grammar`: the input that is the text: stdin, a file's name, argv[1], or its name [default: the first of several bytes]",
    takes: Takes::List { named: "NAME" },
};

const TOKENS: Flag = Flag {
    name: "grammar-tokens",
    help: "`grammar`: what tokens look like that the files do not tell, in the plain form",
    takes: Takes::File { named: "FILE" },
};

const WORDS: Flag = Flag {
    name: "grammar-words",
    help: "`grammar`: words that holes may say, a dictionary as AFL and libFuzzer read it",
    takes: Takes::File { named: "FILE" },
};

const CONSTANTS: Flag = Flag {
    name: "grammar-constants",
    help: "`grammar`: let holes say the program's own string constants as well",
    takes: Takes::Nothing,
};

const ERRORS: Flag = Flag {
    name: "grammar-errors",
    help: "`grammar`: mistakes that a text may have: a token left out, doubled or replaced",
    takes: Takes::Number { named: "N", default: 0 },
};

const FILL: Flag = Flag {
    name: "grammar-fill",
    help: "`grammar`: fill the file or standard input behind the text with blanks: for programs that read it all at once",
    takes: Takes::Nothing,
};

fn check(flags: &Flags, named: Named) -> Result<(), String> {
    if named == Named::No {
        let given = ENTRY.flags.iter().find(|flag| flags.is_given(flag));
        return given.map_or(Ok(()), |flag| Err(format!("--{} has no effect without --with grammar", flag.name)));
    }
    if flags.list(&FILE).is_empty() {
        return Err("--with grammar needs a grammar: --grammar-file FILE (docs/grammars.md says which forms are read)"
            .to_string());
    }
    if flags.number(&MAX) == 0 {
        return Err("--grammar-max 0 leaves only the empty text; the smallest is 1".to_string());
    }
    if flags.number(&MAX) > 10_000 {
        return Err("--grammar-max: at most 10000 tokens".to_string());
    }
    if flags.number(&ERRORS) > 3 {
        return Err("--grammar-errors: at most 3 mistakes in a text".to_string());
    }
    Ok(())
}

fn make(making: &Making) -> Result<Part, String> {
    let Making { flags, subject, .. } = making;
    let files = Files {
        grammar: flags.list(&FILE).iter().map(PathBuf::from).collect(),
        tokens: flags.file(&TOKENS).map(PathBuf::from),
    };
    let grammar = ::grammar::read::grammar(&files).map_err(|why| why.to_string())?;
    let mut words = match flags.file(&WORDS) {
        Some(file) => words::read(file)?,
        None => Vec::new(),
    };
    if flags.is_given(&CONSTANTS) {
        words.extend(words::constants(subject.module));
    }
    let fill = match flags.is_given(&FILL) {
        true => Some(grammar.scanner.padding(&grammar.tokens).ok_or(
            "--grammar-fill: no blank can stand behind every token of this grammar, so nothing can be filled",
        )?),
        false => None,
    };
    let config = Config {
        fill,
        words: words::sort(&grammar, words),
        grammar: Arc::new(grammar),
        max: flags.number(&MAX) as u32,
        max_mistakes: flags.number(&ERRORS) as u32,
        input: flags.list(&INPUT).last().cloned(),
        is_fuzzer: subject.module.function(subject.entry).name == FUZZER_ENTRY,
    };
    Ok(Part::passive(Texts::new(Arc::new(config), Arc::default())))
}

/* A calculator with letters for variables, as tutorials for yacc have it. It forgets that a divisor may be zero. */
%{
#include <stdio.h>

int yylex(void);
void yyerror(const char *message);

static int variables[128];
static int result;
%}

%token LETTER DIGIT

%left '|'
%left '&'
%left '+' '-'
%left '*' '/' '%'
%right MINUS

%%

line: expr { result = $1; }
    ;

expr: '(' expr ')'          { $$ = $2; }
    | expr '*' expr         { $$ = $1 * $3; }
    | expr '/' expr         { $$ = $1 / $3; }
    | expr '%' expr         { $$ = $1 % $3; }
    | expr '+' expr         { $$ = $1 + $3; }
    | expr '-' expr         { $$ = $1 - $3; }
    | expr '|' expr         { $$ = $1 || $3; }
    | expr '&' expr         { $$ = $1 && $3; }
    | '-' expr %prec MINUS  { $$ = -$2; }
    | LETTER                { $$ = variables[$1]; }
    | DIGIT                 { $$ = $1; }
    ;

%%

void yyerror(const char *message) { fprintf(stderr, "%s\n", message); }

struct yy_buffer_state *yy_scan_string(const char *text);

int main(int argc, char **argv) {
    if (argc < 2)
        return 2;
    for (int letter = 'a'; letter <= 'z'; letter++)
        variables[letter] = letter - 'a' + 1;
    yy_scan_string(argv[1]);
    if (yyparse() != 0)
        return 1;
    printf("%d\n", result);
    return 0;
}

%token LETTER NUMBER
%left '|'
%left '&'
%left '+' '-'
%left '*' '/' '%'
%right NEG
%%
expr: '(' expr ')' | expr '*' expr | expr '/' expr | expr '%' expr | expr '+' expr | expr '-' expr
    | expr '|' expr | expr '&' expr | '-' expr %prec NEG | LETTER | NUMBER ;
%%

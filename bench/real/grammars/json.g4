// JSON as RFC 8259 has it.
grammar json;

text : value EOF ;

value
    : object
    | array
    | STRING
    | NUMBER
    | 'true'
    | 'false'
    | 'null'
    ;

object : '{' ( member ( ',' member )* )? '}' ;
member : STRING ':' value ;
array  : '[' ( value ( ',' value )* )? ']' ;

STRING : '"' ( PLAIN | ESCAPED )* '"' ;
NUMBER : '-'? INTEGER ( '.' DIGIT+ )? ( [eE] [+-]? DIGIT+ )? ;
BLANK  : [ \t\r\n]+ -> skip ;

fragment PLAIN   : ~["\\\u0000-\u001F] ;
fragment ESCAPED : '\\' ( ["\\/bfnrt] | 'u' HEX HEX HEX HEX ) ;
fragment HEX     : [0-9a-fA-F] ;
fragment INTEGER : '0' | [1-9] DIGIT* ;
fragment DIGIT   : [0-9] ;

grammar JSON;   // a small one of ours
json : value EOF ;
obj  : '{' pair (',' pair)* '}' | '{' '}' ;
pair : STRING ':' value ;
arr  : '[' (value (',' value)*)? ']' ;
value : STRING # Text
      | NUMBER
      | obj | arr
      | 'true' | 'false' | 'null' ;
STRING : '"' (ESC | ~["\\\u0000-\u001F])* '"' ;
fragment ESC : '\\' (["\\/bfnrt] | UNICODE) ;
fragment UNICODE : 'u' HEX HEX HEX HEX ;
fragment HEX : [0-9a-fA-F] ;
NUMBER : '-'? INT ('.' [0-9]+)? ;
fragment INT : '0' | [1-9] [0-9]* ;
COMMENT : '/*' .*? '*/' -> skip ;
WS : [ \t\n\r]+ -> skip ;

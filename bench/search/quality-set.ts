/** What somebody might type to find the documentation of a package, misspelt by hand in about half of the cases; by the name of the package. */
const TYPED = {
  acorn: 'javascript parser | acorn ecmascript vesion | tiny parser writen in javascript | parse expression at offset | acron tokenizer',
  ajv: 'json schema validator | ajv jsonschema | fastest JSON schma validator | validation errors ajv compile | json type defintion draft 2020',
  'ansi-styles': 'ansi styles | escape codes for styling strings in the terminal | ansi stlyes | ansi escape codes bgColor | hexToAnsi256',
  argparse: 'argparse | command line arguments python port | argparse add argumnet | ArgumentParser subparsers | python arguments parsr',
  async:
    'async waterfall | higher order functions asynchronous utilty | async utility module parallel | asynchronus javascript map limit | async paralel',
  'async-mutex': 'mutex semaphore | async mutx | acquire release lock | synchronizing asynchronous operations | semaphor runExclusive',
  autocannon:
    'http benchmarking tool | autocanon | benchmark requests per second connections | load test pipelining | http benchmaking node',
  'axe-core':
    'accessibility testing engine | axe | accesibility rules wcag | automated accessibility tests websites | axe-core acessibility',
  bytes: 'parse bytes string | bytes utility | bytes format thousands separator | string bytes to btes | byte format unitSeparator',
  busboy: 'multipart form data parser | busboy | parsing incoming html form data | busboi file upload | multipart filesLimit fieldsLimit',
  chai: 'assertion library | chai bdd tdd | asertion library for node and the browser | chai expect should assert plugins | chay assert',
  chalk: 'terminal string styling | chalk colors | terminal sting styling done right | chalk bold underline red | chlak',
  'change-case':
    'camelCase snake case | change case | convert strings between camelcase pascalcase | chnage case kebab | transform string capitalcase dotcase',
  'ci-info':
    'continuous integration environment | ci info | detect current CI server | continous integration server detecton | ci vendor name isPR',
  'cli-progress': 'progress bar | cli progres | multi bar terminal | customizable progress bars command line | progress bar etaBuffer',
  'cli-table3': 'unicode tables command line | cli table | render tables in terminal | table rowspan colspan | unicode aided tabels',
  commander:
    'command line interfaces | commander | subcommands options parsing | comander program option | variadic option required arguments',
  cookie: 'cookie parser serializer | http cookie serialise | basic cookie parsing | cookie httpOnly sameSite maxAge | coockie serializer',
  'cron-parser':
    'cron expression parser | parse crontab | cron parsr iterator next prev | crontab instructions timezone | cron expresion fields hash',
  cronstrue:
    'cron human readable description | cronstrue | converts cron expressions into human readable text | cron discription locale i18n | cronstru',
  'cross-spawn': 'spawn on windows | cross platform spawn | child process spawn shebang windows | cros spawn | cross-spawn PATHEXT',
  'csv-parse': 'csv parser | parse csv | csv parsing delimiter quotes | csv prase stream | comma separated values parser',
  debug:
    'debug utility | debugging namespaces colors | tiny javascript debugging utilty | DEBUG environment variable wildcards | debug millisecond diff',
  'dependency-cruiser':
    'dependency cruiser | visualize dependencies | validate dependencies with your rules | circular dependencies graph dot | dependancy cruiser',
  diff: 'text differencing | diff lines | create patch apply patch | javascript text diference implementation | unified diff parsePatch',
  entities: 'html entities encode decode | entities | decode xml entites | escape html entities fast | encodeXML decodeHTML',
  eventemitter3: 'event emitter | eventemitter | high performance EventEmitter | evntemitter3 | eventemitter once removeListener',
  'fast-check': 'property based testing | fast check | property based tesing framework | quickcheck arbitraries shrink | fast-chek',
  'fast-xml-parser': 'xml parser | validate xml parse to json | xml to js object | fast xml praser | XMLBuilder XMLValidator',
  fastify: 'web framework | fastify | fast low overhead web framework | fastfy plugins schema | efficient server developer experience',
  fflate: 'compression library | gzip zip deflate | fflate | fast small compresion zlib | zip async unzip pako UZIP',
  'file-type':
    'detect file type | file type magic number | detct the file type of a buffer | mime from binary signature | fileTypeFromStream',
  'fs-extra': 'file system copy remove | fs extra | mkdirp copy remove fs methods | outputJson ensureDir | fs-extar',
  he: 'html entity encoder | he | robust html entity encoder decoder | named character references ambiguous ampersand | htlm entity decoder astral symbols',
  'html-to-text':
    'html to plain text | html to text | convert html to beautiful text | advanced converter parses html | html-to-text wordwrap selectors',
  htmlparser2:
    'html parser forgiving | htmlparser2 | fast and forgiving html xml parser | htmlparser events ontext onopentag | htmlpraser2',
  'iconv-lite':
    'character encoding conversion | iconv | convert character encodings pure javascript | inconv lite shift_jis | encodings gbk big5 windows-1251',
  ignore: 'gitignore | ignore | gitignore spec filter paths | gitignor manager | ignore rules createFilter',
  ini: 'ini format parser | ini | ini file stringify sections | ini serialiser | parse ini whitespace section',
  'ipaddr.js': 'ip address library | ipv6 ipv4 manipulation | ip adress parse cidr | ipaddr | ipv4 mapped address range match',
  isbot: 'detect bots crawlers | isbot | user agent bot detection | detect crawlers spiders user agnet | isbt',
  jose: 'json web token | jose jwt jwk | javascript object signing encryption | json web tokn signing | JWKS JWE JWS',
  'js-yaml': 'yaml parser | js yaml | yaml 1.2 parser writer | safe load yaml dump | js-yml schema',
  json5: 'json for humans | json5 | json with comments trailing commas | json for humnas | json5 single quoted strings',
  koa: 'koa middleware | expressive http middleware framework | koa context | expresive middleware node koa async functions | koa app listen',
  'lru-cache': 'least recently used cache | lru cache | cache ttl maxSize | lru chache | least recenty used dispose',
  mailparser: 'parse email | mail parser | mailprser | email parser attachments streaming | advanced email parser nodemailer',
  micromatch:
    'glob matching | micromatch | glob matching wildcards brace expansion | micromach | extglobs negation globstar minimatch replacement',
  minimist:
    'parse argument options | minimist | argument parsing alias boolean unknown | minmist | optimist argument parser without the decoration',
  nodemailer: 'send email node | nodemailer | send e-mails from node | nodmailer | node mailer tls troubleshooting',
  'path-to-regexp':
    'path to regular expression | path to regexp | turn a path string into regex | path string to reglar expression | pathtoregexp compile wildcard',
  pino: 'logger | pino json logger | very low overhead node logger | pinno | logging transports low overhead',
  postgres:
    'postgresql client | fastest full featured postgres client | postgres.js | postgress tagged template queries | postgresql transactions listen notify',
  'pretty-bytes':
    'human readable byte sizes | pretty bytes | convert bytes to human readable string | prety bytes | bytes 1.34 kB human readable',
  'prom-client':
    'prometheus client | prometheus metrics histogram gauge | promethues client | default metrics counter summary | prom client registry pushgateway',
  rfc6902: 'json patch | rfc6902 | json pacth apply | createPatch applyPatch | json pointer patch operations rfc',
  semver: 'semantic versioning | semver | semantc version ranges | caret ranges tilde ranges prerelease | semver satisfies coerce',
  'smtp-server': 'smtp server | create smtp servers | smpt server | smtp server instances on the fly | stmp lmtp server',
  winston:
    'logger transports | winston | a logger for just about everything | winstone logger formats | logging levels multiple transports winston',
  ws: 'websocket client server | ws | websocket library | webscoket permessage deflate | websocket broadcast ping pong broken connections',
  yauzl: 'unzip library | yauzl | zip file central directory | yet another unzip libary | unzip openReadStream lazyEntries',
  yjs: 'crdt shared editing | yjs | shared data types collaborative | crdt framwork | yjs colaborative editors awareness',
} as const;

export const QUALITY_SET = Object.entries(TYPED).map(([name, queries]) => ({ name, queries: queries.split(' | ') }));

import js from '@eslint/js';
import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';

const INTERFACE_NAMES = [
  'src/http-client/**',
  'src/oauth2-client/**',
  'src/id-provider/**',
  'src/kernel/result.ts',
  'src/grid.ts',
];

export default tseslint.config(
  {
    ignores: [
      'dist/',
      'node_modules/',
      'coverage/',
      '.grid*/',
      '.stryker-tmp/',
      'reports/',
      'examples/**/dist/',
      'src/client/generated/',
      'test/modules/',
    ],
  },
  js.configs.recommended,
  {
    // What meets text of strangers must be linear; test/architecture/patterns.spec.ts runs every pattern besides.
    files: ['src/**', 'examples/**', 'deploy/**', 'bin/**'],
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential', ignoreSticky: true }],
    },
  },
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.strictTypeChecked, ...tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
      // Constructors and factories that are injected name what they need; everything else takes an object.
      'no-restricted-syntax': [
        'error',
        {
          selector:
            "FunctionDeclaration[params.length>4], ArrowFunctionExpression[params.length>4]:not(Property[key.name='useFactory'] > *), MethodDefinition[kind!='constructor'] > FunctionExpression[params.length>4]",
          message: 'More than four parameters: take an object.',
        },
      ],
      'no-else-return': 'error',
      'no-console': 'error',
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      '@typescript-eslint/naming-convention': [
        'error',
        { selector: 'typeLike', format: ['PascalCase'] },
        {
          selector: ['variable', 'function', 'classMethod', 'parameter'],
          modifiers: [],
          format: ['camelCase', 'UPPER_CASE', 'PascalCase'],
          leadingUnderscore: 'allow',
        },
      ],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_' },
      ],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      // Keys that a standard, a claim or a variable of the environment gives are written as texts, fields of ours as names.
      '@typescript-eslint/dot-notation': ['error', { allowIndexSignaturePropertyAccess: true }],
      // `() => timer.unref()` is a call and nothing else, and `return next();` leaves a function that answers nothing.
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
      // An empty variable of the environment, parameter or cell means that it is not given.
      '@typescript-eslint/prefer-nullish-coalescing': [
        'error',
        { ignorePrimitives: { string: true } },
      ],
      // Nest's modules are classes that carry a decorator and nothing else.
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
      // Entities and answers are shapes with decorators: they are built by naming their fields, without a constructor.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      // The pipe of requests reads the written type of a property: what is only inferred does not get into decorators.
      '@typescript-eslint/no-inferrable-types': ['error', { ignoreProperties: true }],
      // It asks for `!`, which no-non-null-assertion refuses: a cast that takes undefined away names the type instead.
      '@typescript-eslint/non-nullable-type-assertion-style': 'off',
      // … and a spread is how an instance becomes a plain dictionary.
      '@typescript-eslint/no-misused-spread': 'off',
      // JSON, rows and claims have been cast to a type that they may not have: String and Number make it true.
      '@typescript-eslint/no-unnecessary-type-conversion': 'off',
      // State changes during an await, callers in JavaScript give null, and rows miss what types promise: that is looked at.
      '@typescript-eslint/no-unnecessary-condition': 'off',
      // `json<Answer>(…)` is a cast that its caller writes.
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      // `!key || key.alg !== alg` refuses what is missing; `key?.alg !== alg` lets two that are missing be equal.
      '@typescript-eslint/prefer-optional-chain': 'off',
      // A hook may answer something or return nothing: `undefined` alone would refuse functions without a return.
      '@typescript-eslint/no-invalid-void-type': 'off',
      // Records by names from outside (environment, headers, manifests) lose a name by delete.
      '@typescript-eslint/no-dynamic-delete': 'off',
    },
  },
  // A step of the schema is one text of SQL that nobody reads but for its release.
  { files: ['src/migrations/*.ts'], rules: { 'max-lines': 'off' } },
  {
    files: INTERFACE_NAMES,
    rules: { '@typescript-eslint/naming-convention': 'off' },
  },
  {
    files: ['**/*.spec.ts', 'test/**/*.ts'],
    rules: {
      // Answers are read as any: a wrong look at them fails the test.
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-empty-function': 'off',
      '@typescript-eslint/restrict-plus-operands': 'off',
      // Tables of wrong arguments hold classes that are nothing, and void functions are asked what they answer.
      '@typescript-eslint/no-extraneous-class': 'off',
      '@typescript-eslint/no-confusing-void-expression': 'off',
      'max-lines-per-function': 'off',
      '@typescript-eslint/naming-convention': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-explicit-any': 'off',
      'no-restricted-syntax': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
    },
  },
  {
    files: ['**/*.mjs'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        Buffer: 'readonly',
        URL: 'readonly',
        URLSearchParams: 'readonly',
        setTimeout: 'readonly',
        clearTimeout: 'readonly',
        setInterval: 'readonly',
        clearInterval: 'readonly',
        setImmediate: 'readonly',
        performance: 'readonly',
        fetch: 'readonly',
        AbortController: 'readonly',
        AbortSignal: 'readonly',
        TextEncoder: 'readonly',
        TextDecoder: 'readonly',
        structuredClone: 'readonly',
        FormData: 'readonly',
        Blob: 'readonly',
        Response: 'readonly',
        globalThis: 'readonly',
        crypto: 'readonly',
      },
    },
  },
);

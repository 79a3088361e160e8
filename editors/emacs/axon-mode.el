;;; axon-mode.el --- Major mode for Axon  -*- lexical-binding: t; -*-

;; Version: 0.2.0
;; Package-Requires: ((emacs "27.1"))
;; Keywords: languages

;;; Commentary:

;; Made by scripts/grammars.py from src/axon/highlight/lexicon.py; change those instead.

;;; Code:

(defvar axon-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?# "<" table)
    (modify-syntax-entry ?\n ">" table)
    (modify-syntax-entry ?\" "\"" table)
    (modify-syntax-entry ?_ "_" table)
    (modify-syntax-entry ?' "_" table)
    (modify-syntax-entry ?? "." table)
    (dolist (sign '(?+ ?- ?* ?/ ?% ?@ ?< ?> ?= ?| ?.))
      (modify-syntax-entry sign "." table))
    table)
  "Names may end in primes; a comment begins with a number sign.")

(defconst axon-font-lock-keywords
  `(("\\.[A-Za-z_][A-Za-z0-9_]*'*" 0 'default)
    ("\\_<\\(import\\)[ \t]*\"" 1 'font-lock-keyword-face)
    ("\\_<\\(op\\|as\\)\\_>[ \t]+[A-Za-z_]" 1 'font-lock-keyword-face)
    ("\\_<\\(where\\)\\_>\\(?:[ \t]+[A-Za-z_0-9?[(]\\|[ \t]*$\\)" 1 'font-lock-keyword-face)
    ("\\_<\\(mod\\)\\_>[ \t]+[A-Za-z_0-9?[(]" 1 'font-lock-keyword-face)
    ("\\_<\\(dim\\|shape\\)\\_>[ \t]+[A-Za-z_0-9?[(]" 1 'font-lock-type-face)
    (,(rx symbol-start (or "None" "false" "inf" "true") symbol-end)
     . 'font-lock-constant-face)
    (,(rx symbol-start (or "and" "not" "or") symbol-end)
     . 'font-lock-keyword-face)
    (,(rx symbol-start (or "bf16" "bool" "f16" "f32" "f64" "i16" "i32" "i64" "i8" "u16" "u32" "u64" "u8") symbol-end)
     . 'font-lock-type-face)
    (,(rx symbol-start (or "else" "fn" "if" "type") symbol-end)
     . 'font-lock-keyword-face)
    ("\\_<\\([A-Za-z_][A-Za-z0-9_]*'*\\)[ \t]*=[ \t]*fn\\_>" 1 'font-lock-function-name-face)
    ("\\?[A-Za-z_][A-Za-z0-9_]*'*" . 'font-lock-variable-name-face)
    ("\\_<[0-9]+\\(?:\\.[0-9]+\\)?\\(?:[eE][+-]?[0-9]+\\)?f?\\_>" . 'font-lock-constant-face))
  "Words, functions that are defined, sizes of the run and numbers.")

(defun axon-indent-line ()
  "Two spaces for each bracket that is open."
  (interactive)
  (let ((depth (save-excursion
                 (back-to-indentation)
                 (- (car (syntax-ppss)) (if (looking-at "[])}]") 1 0)))))
    (if (<= (current-column) (current-indentation))
        (indent-line-to (* 2 (max 0 depth)))
      (save-excursion (indent-line-to (* 2 (max 0 depth)))))))

;;;###autoload
(define-derived-mode axon-mode prog-mode "Axon"
  "Major mode for Axon, a language whose tensor shapes are inferred."
  (setq-local font-lock-defaults '(axon-font-lock-keywords))
  (setq-local comment-start "# ")
  (setq-local comment-start-skip "#+ *")
  (setq-local indent-line-function #'axon-indent-line))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.axon\\'" . axon-mode))

(with-eval-after-load 'eglot
  (defvar eglot-server-programs)
  (add-to-list 'eglot-server-programs '(axon-mode . ("axon" "lsp"))))

(provide 'axon-mode)
;;; axon-mode.el ends here

;;; A real Emacs with eglot, the file of editors/emacs, the real binary, the example project with its run.  -*- lexical-binding: t; -*-
;;   usage: emacs --batch -q -l e2e.el SPARKLS SPARKLS.EL PROJECT
;; PROJECT is a copy that may be changed. Exits with 1 at the first check that fails.

(setq package-quickstart nil)
(package-initialize)
(require 'cl-lib)

(defvar passed 0)

(defun check (ok what &optional got)
  (princ (format "%s %s\n" (if ok "ok  " "FAIL") what))
  (if ok
      (cl-incf passed)
    (princ (format "got: %S\n1 failed\n" got))
    (kill-emacs 1))
  ok)

(defun eventually (probe)
  "Wait until PROBE returns something, and return that."
  (let ((end (+ (float-time) 20)) found)
    (while (and (not (setq found (funcall probe))) (< (float-time) end))
      (accept-process-output nil 0.05))
    found))

(defun found (rule)
  "The diagnostics of RULE in this buffer."
  (cl-remove-if-not
   (lambda (diagnostic) (string-match-p (regexp-quote rule) (flymake-diagnostic-text diagnostic)))
   (flymake-diagnostics)))

(defun text-of (diagnostic)
  (buffer-substring-no-properties (flymake-diagnostic-beg diagnostic) (flymake-diagnostic-end diagnostic)))

(defun ask (method &rest more)
  "Send a request about point."
  (jsonrpc-request (eglot--current-server-or-lose) method (append (eglot--TextDocumentPositionParams) more)))

(defvar project nil "The copy of the example.")

(defun open-in-eglot (file)
  (find-file (expand-file-name file project))
  (apply #'eglot (append (eglot--guess-contact) nil))
  (check (eventually #'eglot-managed-p) (format "%s: the server is attached" (file-name-nondirectory file)))
  (flymake-start))

(defun goto-text (text)
  (goto-char (point-min))
  (search-forward text)
  (goto-char (match-beginning 0)))

(pcase-let ((`(,sparkls ,file ,folder) command-line-args-left))
  (setq command-line-args-left nil project (file-name-as-directory folder)
        eglot-sync-connect 20 eglot-send-changes-idle-time 0.05 eglot-confirm-server-initiated-edits nil
        make-backup-files nil auto-save-default nil)
  (setq sparkls-eglot-modes '(spark-conf-mode python-mode python-ts-mode))
  (load file nil t)
  (require 'eglot)
  (require 'flymake)
  (setq sparkls-command (list sparkls "server") sparkls-settings '(:spark-version "3.5.9"))
  (let ((default-directory project))
    (call-process "git" nil nil nil "init" "--quiet")

    ;; Settings, behind letters that are two units of UTF-16 and four bytes.
    (find-file (expand-file-name "conf/spark-defaults.conf" project))
    (goto-char (point-max))
    (insert "# 🙂\nspark.note 🙂 🙂\n")
    (save-buffer)
    (check (eq major-mode 'spark-conf-mode) "the mode of spark-defaults.conf" major-mode)
    (open-in-eglot "conf/spark-defaults.conf")
    (check (eventually (lambda () (found "skewJoin.enable"))) "unknown-key on the misspelt setting" (flymake-diagnostics))
    (let ((typo (car (found "skewJoin.enabled"))))
      (check (equal (text-of typo) "spark.sql.adaptive.skewJoin.enable") "its place is the key" (text-of typo))
      (goto-char (flymake-diagnostic-beg typo))
      (let* ((actions (eglot-code-actions (point) (flymake-diagnostic-end typo) "quickfix"))
             (action (cl-find-if (lambda (it) (string-match-p "skewJoin.enabled" (plist-get it :title))) actions)))
        (check action "did-you-mean is offered" actions)
        (unless (plist-get action :edit)
          (setq action (jsonrpc-request (eglot--current-server-or-lose) :codeAction/resolve action)))
        (eglot--apply-workspace-edit (plist-get action :edit)))
      (check (string-match-p "^spark.sql.adaptive.skewJoin.enabled " (buffer-string)) "did-you-mean is applied" (buffer-string)))
    (eglot--signal-textDocument/didChange)
    (check (eventually (lambda () (null (found "skewJoin.enable")))) "its finding is gone" (flymake-diagnostics))
    (goto-text "spark.sql.shuffle.partitions")
    (let ((hover (format "%S" (ask :textDocument/hover))))
      (check (and (string-match-p "48" hover) (string-match-p "200" hover)) "hover: the value and the default" hover))
    (goto-char (point-max))
    (insert "spark.sql.shuffle.parti")
    (eglot--signal-textDocument/didChange)
    (let ((items (format "%S" (ask :textDocument/completion))))
      (check (string-match-p "spark.sql.shuffle.partitions" items) "keys are completed" items))
    (set-buffer-modified-p nil)

    ;; Code, with what the run measured.
    (open-in-eglot "jobs/nightly_orders.py")
    (check (eventually (lambda () (found "one task read"))) "skewed-stage on the join" (flymake-diagnostics))
    (check (equal (text-of (car (found "one task read"))) "join") "its place is the call" (text-of (car (found "one task read"))))
    (check (eventually (lambda () (cl-find "collect" (flymake-diagnostics) :key #'text-of :test #'equal))) "collect-unbounded on the collect" (flymake-diagnostics))
    (goto-text "join(merchants")
    (let ((hover (format "%S" (ask :textDocument/hover))))
      (check (string-match-p "[Ss]tage [0-9]+" hover) "hover on the join: the measured stage" hover))
    (let ((server (eglot--current-server-or-lose)))
      (eglot-shutdown server)
      (check (not (jsonrpc-running-p server)) "the server ends"))
    (princ (format "%d passed, 0 failed\n" passed))
    (kill-emacs 0)))

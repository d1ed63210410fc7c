;;; sparkls.el --- Language server for Apache Spark  -*- lexical-binding: t; -*-

;; Package-Requires: ((emacs "28.1"))

;;; Commentary:

;; A mode for spark-defaults.conf and other properties files of Spark, and sparkls for eglot and lsp-mode.
;;
;;   (require 'sparkls)
;;   (add-hook 'spark-conf-mode-hook #'eglot-ensure)
;;
;; eglot runs one server a buffer, so Python stays with the server that it has unless `sparkls-eglot-modes' says otherwise;
;; lsp-mode runs sparkls beside others.

;;; Code:

(require 'conf-mode)

(defgroup sparkls nil
  "Language server for Apache Spark."
  :group 'tools)

(defcustom sparkls-command '("sparkls" "server")
  "How the server is started."
  :type '(repeat string))

(defcustom sparkls-eglot-modes '(spark-conf-mode)
  "The modes for which eglot starts sparkls; set it before eglot is loaded."
  :type '(repeat symbol))

(defcustom sparkls-settings nil
  "Settings as in sparkls.toml, a plist: (:spark-version \"3.5\" :runs [\"runs/*\"])."
  :type 'plist)

;;;###autoload
(define-derived-mode spark-conf-mode conf-space-mode "SparkConf"
  "Mode for properties files of Spark."
  (setq-local comment-start "# "))

;;;###autoload
(add-to-list 'auto-mode-alist '("spark[^/]*\\.conf\\(?:\\.template\\)?\\'" . spark-conf-mode))

(defun sparkls--command (&rest _)
  "The command that starts the server, as eglot asks for it."
  sparkls-command)

(defun sparkls--options (&rest _)
  "What is sent to the server when it starts."
  (or sparkls-settings (make-hash-table)))

(with-eval-after-load 'eglot
  (defvar eglot-server-programs)
  (add-to-list 'eglot-server-programs
               (cons sparkls-eglot-modes
                     (lambda (&rest _)
                       (append sparkls-command (list :initializationOptions (sparkls--options)))))))

(with-eval-after-load 'lsp-mode
  (defvar lsp-language-id-configuration)
  (declare-function lsp-register-client "lsp-mode")
  (declare-function make-lsp-client "lsp-mode")
  (declare-function lsp-stdio-connection "lsp-mode")
  (add-to-list 'lsp-language-id-configuration '(spark-conf-mode . "sparkconf"))
  (lsp-register-client
   (make-lsp-client
    :new-connection (lsp-stdio-connection #'sparkls--command)
    :major-modes '(spark-conf-mode python-mode python-ts-mode sql-mode sh-mode yaml-mode json-mode)
    :server-id 'sparkls
    :add-on? t
    :initialization-options #'sparkls--options)))

(provide 'sparkls)
;;; sparkls.el ends here

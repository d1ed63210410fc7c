//! Starts the sparkls that is on the path, or the one that the user's settings name.

use zed_extension_api::settings::LspSettings;
use zed_extension_api::{self as zed, serde_json, Command, Extension, LanguageServerId, Result, Worktree};

struct Sparkls;

impl Extension for Sparkls {
    fn new() -> Self {
        Self
    }

    fn language_server_command(&mut self, id: &LanguageServerId, worktree: &Worktree) -> Result<Command> {
        let binary = LspSettings::for_worktree(id.as_ref(), worktree).ok().and_then(|settings| settings.binary);
        let (path, arguments) = binary.map_or((None, None), |binary| (binary.path, binary.arguments));
        let command = path
            .or_else(|| worktree.which("sparkls"))
            .ok_or("sparkls is not on the path: install it, or name it as lsp.sparkls.binary.path in the settings")?;
        let args = arguments.unwrap_or_else(|| vec!["server".to_owned()]);
        Ok(Command { command, args, env: worktree.shell_env() })
    }

    fn language_server_workspace_configuration(
        &mut self,
        id: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Option<serde_json::Value>> {
        let settings = LspSettings::for_worktree(id.as_ref(), worktree).ok().and_then(|settings| settings.settings);
        Ok(Some(serde_json::json!({ "sparkls": settings.unwrap_or_default() })))
    }
}

zed::register_extension!(Sparkls);

package dev.bourse.client.account;

import dev.bourse.client.transfer.CommandEnvironment;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import picocli.CommandLine;

/** The commands to sign in and out. */
public final class AccountCommands {
  private AccountCommands() {}

  /** {@code login} and {@code logout}, each created on demand. */
  public static Map<String, Supplier<CommandLine>> all(CommandEnvironment environment) {
    Map<String, Supplier<CommandLine>> all = new LinkedHashMap<>();
    all.put("login", () -> new CommandLine(new LoginCommand(environment)));
    all.put("logout", () -> new CommandLine(new LogoutCommand(environment)));
    return all;
  }
}

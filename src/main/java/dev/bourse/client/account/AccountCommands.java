package dev.bourse.client.account;

import dev.bourse.client.transfer.CommandEnvironment;
import picocli.CommandLine;

/** Signing in and out. */
public final class AccountCommands {
  private AccountCommands() {}

  /** Adds {@code login} and {@code logout}. */
  public static void addTo(CommandLine line, CommandEnvironment environment) {
    line.addSubcommand(new LoginCommand(environment)).addSubcommand(new LogoutCommand(environment));
  }
}

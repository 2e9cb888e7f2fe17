package dev.bourse.client.capacity;

import dev.bourse.client.transfer.CommandEnvironment;
import picocli.CommandLine;

/** The commands about a cluster's capacity. */
public final class CapacityCommands {
  private CapacityCommands() {}

  /** Adds {@code up}, {@code down}, {@code status}, {@code quote} and {@code logs}. */
  public static void addTo(CommandLine line, CommandEnvironment environment) {
    line.addSubcommand(new UpCommand(environment))
        .addSubcommand(new DownCommand(environment))
        .addSubcommand(new StatusCommand(environment))
        .addSubcommand(new QuoteCommand(environment))
        .addSubcommand(new LogsCommand(environment));
  }
}

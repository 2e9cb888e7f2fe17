package dev.bourse.client.trail;

import picocli.CommandLine;

/** The commands about a trail that are no operation. */
public final class TrailCommands {
  private TrailCommands() {}

  /**
   * Adds {@code verify}.
   *
   * @return the same command line
   */
  public static CommandLine addTo(CommandLine trail) {
    return trail.addSubcommand(new VerifyCommand());
  }
}

package dev.bourse.client.trail;

import picocli.CommandLine;

/** The trail's commands that are not operations. */
public final class TrailCommands {
  private TrailCommands() {}

  /**
   * Adds {@code verify}.
   *
   * @return the same command line
   */
  public static CommandLine addTo(CommandLine trail) {
    return trail.addSubcommand(new TrailVerifyCommand());
  }
}

package dev.bourse.app;

/** The version of the jar. */
public final class ProgramVersion {
  private ProgramVersion() {}

  /** As Maven has it; of a program that is not packaged, that it is not. */
  public static String text() {
    String version = ProgramVersion.class.getPackage().getImplementationVersion();
    return version == null ? "(not packaged)" : version;
  }
}

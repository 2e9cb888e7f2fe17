package dev.bourse.app;

/** The version of the jar. */
public final class ProgramVersion {
  private ProgramVersion() {}

  /** The version from Maven; for a program that is not packaged, a text that says so. */
  public static String text() {
    String version = ProgramVersion.class.getPackage().getImplementationVersion();
    return version == null ? "(not packaged)" : version;
  }
}

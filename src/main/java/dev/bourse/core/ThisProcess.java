package dev.bourse.core;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The identity of this process for operators. */
public final class ThisProcess {
  private static final String HOST = host();

  private ThisProcess() {}

  /** The name of the machine according to the kernel; a name server could be slow. */
  public static String hostName() {
    return HOST;
  }

  /** The process id on that machine. */
  public static long id() {
    return ProcessHandle.current().pid();
  }

  /** Host and process id, as {@code host:number}. */
  public static String name() {
    return HOST + ':' + id();
  }

  private static String host() {
    try {
      return Text.plain(Files.readString(Path.of("/proc/sys/kernel/hostname")).strip());
    } catch (IOException elsewhere) {
      return Text.plain(System.getenv().getOrDefault("HOSTNAME", "this machine"));
    }
  }
}

import Daemon
import FoundationEssentials
import Glibc

exit(
    await Program.run(
        arguments: Array(CommandLine.arguments.dropFirst()), environment: ProcessInfo.processInfo.environment)
)

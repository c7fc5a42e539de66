import Testing

@testable import Configuration
@testable import Core

@Test func printAll() {
    for section in Setting.sections {
        print("### " + section.title + "\n\n| setting | default | commands | meaning |\n|---|---|---|---|")
        for setting in section.settings { print(setting.documentationRow) }
        print()
    }
    print("=====")
    print(HelpText.overview())
    print(HelpText.of(.gateway))
    print(HelpText.of(.publish))
    print(HelpText.of(.help))
}

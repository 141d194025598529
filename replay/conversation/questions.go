package conversation

import "fmt"

// adversarial is LoCoMo's category of questions that the conversation does not answer.
const adversarial = 5

// readQuestions reads questions and their answers. Categories have a meaning in LoCoMo only.
func (rec *recording) readQuestions(v value, locomo bool) error {
	list, err := v.list("qa")
	if err != nil {
		return err
	}
	for i, entry := range list {
		where := element("qa", i)
		fields, err := entry.object(where)
		if err != nil {
			return err
		}
		q := Question{Literal: fields["literalinconversation"].truth()}
		if q.ID, err = name(fields["id"]); err != nil {
			return err
		}
		if q.ID == "" {
			q.ID = fmt.Sprint(i)
		}
		if q.Text, err = fields["question"].text(where + ".question"); err != nil {
			return err
		}
		if q.Answers, err = answersIn(where+".accepted_answers", fields["acceptedanswers"]); err != nil {
			return err
		}
		if len(q.Answers) == 0 {
			if q.Answers, err = answersIn(where+".answer", fields["answer"]); err != nil {
				return err
			}
		}
		trap := !fields["adversarialanswer"].missing() && len(q.Answers) == 0
		q.Unanswerable = trap || fields["unanswerable"].truth() || fields["isimpossible"].truth()
		if locomo {
			category, err := fields["category"].number(where + ".category")
			if err != nil {
				return err
			}
			q.Unanswerable = q.Unanswerable || category == adversarial
		}
		rec.questions = append(rec.questions, q)
	}
	return nil
}

// answersIn reads a list of answers, or a single one, and leaves out empty ones. A number, true and
// false are read as text.
func answersIn(where string, v value) ([]string, error) {
	list := []value{v}
	if v.is('[') {
		var err error
		if list, err = v.list(where); err != nil {
			return nil, err
		}
	}
	var answers []string
	for _, a := range list {
		answer := a.kind()
		if answer != "true" && answer != "false" {
			var err error
			if answer, err = name(a); err != nil {
				return nil, a.want(where, "strings")
			}
		}
		if answer != "" {
			answers = append(answers, answer)
		}
	}
	return answers, nil
}
